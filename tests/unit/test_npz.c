/* SPDX-License-Identifier: MIT */
/* Whole files: those that other programs write, and our own. */
#define _XOPEN_SOURCE 700

#include "archive.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- archives that other programs wrote ---- */

static const char *const good[] = {
    "numpy.npz", "numpy_compressed.npz", "python_stored.npz", "python_zip64.npz", "python_pipe.npz", "python_pipe_zip64.npz",
    "python_comment.npz", "zip.npz", "zip_extra.npz", "zip_stored.npz", "zip_zip64.npz", "zip_pipe.npz", "zip_stdin.npz",
    "7z.npz", "7z_stored.npz", "7z_ultra.npz", "npy_2.npz", "npy_3.npz", "npy_long_header.npz",
};

Test(npz, reads_what_numpy_python_zip_and_7z_write)
{
    char path[1024];

    for (size_t k = 0; k < sizeof good / sizeof *good; k++) {
        struct npz z;
        const char *wrong = npz_read(&z, data_path(path, good[k]));
        cr_assert_null(wrong, "%s: %s", good[k], wrong);
        const struct npz_array *a = npz_get(&z, "a"), *b = npz_get(&z, "b");
        cr_assert(a && a->type == NPZ_F4 && a->ndim == 2 && a->shape[0] == 2 && a->shape[1] == 3 && a->size == 6, "%s", good[k]);
        for (size_t i = 0; i < 6; i++)
            cr_assert_eq(npz_value(a, i), (double)i / 4, "%s", good[k]);
        cr_assert_eq(z.count, strncmp(good[k], "npy_", 4) ? 2 : 1, "%s", good[k]);
        if (b)
            cr_assert(b->type == NPZ_B1 && npz_value(b, 0) == 1 && npz_value(b, 1) == 0, "%s", good[k]);
        cr_assert_null(npz_get(&z, "a.npy"));
        npz_free(&z);
    }
}

Test(npz, reads_every_type_scalars_and_empty_arrays)
{
    char path[1024], shape[128];
    struct npz z;

    cr_assert_null(npz_read(&z, data_path(path, "numpy_types.npz")));
    cr_assert_eq(z.count, 6);
    cr_expect_eq(npz_value(npz_get(&z, "f2"), 0), 1.5);
    cr_expect_eq(npz_value(npz_get(&z, "f2"), 1), -2);
    cr_expect_eq(npz_value(npz_get(&z, "f4"), 0), (double)0.1f);
    cr_expect_eq(npz_get(&z, "f4")->ndim, 0);
    cr_expect_eq(npz_get(&z, "f4")->size, 1);
    cr_expect_eq(npz_get(&z, "f8")->size, 0);
    cr_expect_str_eq(npz_shape_text(shape, npz_get(&z, "f8")), "(0, 3)");
    cr_expect_eq(npz_value(npz_get(&z, "i8"), 0), -7);
    cr_expect_eq(npz_value(npz_get(&z, "b1"), 0), 1);
    cr_expect_str_eq(npz_shape_text(shape, npz_get(&z, "b1")), "(2, 1)");
    cr_expect_arr_eq(npz_get(&z, "u1")->data, "h\xc3\xa9", 3);
    cr_expect_str_eq(npz_shape_text(shape, npz_get(&z, "u1")), "(3,)");
    cr_expect_str_eq(npz_shape_text(shape, npz_get(&z, "i8")), "()");
    for (size_t i = 0; i < z.count; i++)
        cr_expect_str_eq(z.arrays[i].name, npz_type_name(z.arrays[i].type) + 1);
    npz_free(&z);
}

#define TYPES "wanted one of <f2 <f4 <f8 <i8 |b1 |u1"
#define NAMES "wanted a flat name of printable ASCII, without / \\ : or spaces"
static const struct {
    const char *file, *sentence;
} bad[] = {
    { "bad_bzip2.npz", "a.npy: compression method 12 (bzip2), wanted stored or deflated" },
    { "bad_lzma.npz", "a.npy: compression method 14 (LZMA), wanted stored or deflated" },
    { "bad_7z_deflate64.npz", "a.npy: compression method 9 (Deflate64), wanted stored or deflated" },
    { "bad_7z_ppmd.npz", "a.npy: compression method 98 (PPMd), wanted stored or deflated" },
    { "bad_7z_aes.npz", "a.npy: encrypted, wanted stored or deflated" },
    { "bad_zip_encrypted.npz", "a.npy: encrypted, wanted stored or deflated" },
    { "bad_zip_directory.npz", "sub/: a directory, wanted only members NAME.npy" },
    { "bad_python_directory.npz", "a/: a directory, wanted only members NAME.npy" },
    { "bad_no_members.npz", "a ZIP archive without members" },
    { "bad_text_member.npz", "README.txt: wanted only members NAME.npy" },
    { "bad_dotdot.npz", "../a: " NAMES },
    { "bad_long_header.npz", "a: .npy header of 65536 bytes, wanted at most 65535" },
    { "bad_fortran.npz", "a: found Fortran order, wanted C order (numpy.ascontiguousarray makes it)" },
    { "bad_big_endian.npz", "a: found >f4, which is big endian, " TYPES },
    { "bad_object.npz", "a: found |O, pickled Python objects, " TYPES },
    { "bad_structured.npz", "a: found a structured type, " TYPES },
    { "bad_complex.npz", "a: found type <c8, " TYPES },
    { "bad_i1.npz", "a: found type |i1, " TYPES },
    { "bad_i4.npz", "a: found type <i4, " TYPES },
    { "bad_unicode.npz", "a: found type <U4, " TYPES },
    { "bad_5d.npz", "a: found more than 4 dimensions, wanted at most that" },
    { "bad_lone.npy", "a single .npy array, wanted a ZIP archive of them (.npz)" },
    { "make.py", "not a ZIP archive" },
};

Test(npz, refuses_with_a_sentence)
{
    char path[1024];

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++) {
        struct npz z;
        const char *wrong = npz_read(&z, data_path(path, bad[k].file));
        cr_expect_str_eq(wrong ? wrong : "", bad[k].sentence, "%s: %s", bad[k].file, wrong ? wrong : "was read");
        npz_free(&z);
    }
}

Test(npz, no_sample_is_forgotten)
{
    char path[1024];
    DIR *dir = opendir(data_path(path, "."));
    size_t samples = 0;

    cr_assert_not_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        samples += strstr(entry->d_name, ".np") != NULL;
    closedir(dir);
    cr_expect_eq(samples, sizeof good / sizeof *good + sizeof bad / sizeof *bad - 1 + 1,    /* less make.py, and numpy_types.npz */
                 "%zu samples", samples);
}

static const char *named(char said[SENTENCE], const char *name, size_t length)
{
    struct part part = { name, length, npy_of("{'descr': '|u1', 'fortran_order': False, 'shape': (0,)}", NULL, 0), 0 };
    struct archive z = archive_of(&part, 1);

    verdict(said, z.b.p, z.b.n);
    free(z.b.p);
    return said;
}

Test(npz, names_are_shown_escaped_and_never_believed)
{
    char said[SENTENCE], name[200];

    cr_expect_str_eq(named(said, "out_proj.weight.npy", 0), "");
    cr_expect_str_eq(named(said, ".npy", 0), "a member without a name");
    cr_expect_str_eq(named(said, "npy", 0), "npy: wanted only members NAME.npy");
    cr_expect_str_eq(named(said, "a.NPY", 0), "a.NPY: wanted only members NAME.npy");
    cr_expect_str_eq(named(said, "/etc/passwd.npy", 0), "/etc/passwd: " NAMES);
    cr_expect_str_eq(named(said, "..\\a.npy", 0), "..\\x5ca: " NAMES);
    cr_expect_str_eq(named(said, "c:a.npy", 0), "c:a: " NAMES);
    cr_expect_str_eq(named(said, "a b.npy", 0), "a\\x20b: " NAMES);
    cr_expect_str_eq(named(said, "\x1b[2J\n.npy", 0), "\\x1b[2J\\x0a: " NAMES);
    cr_expect_str_eq(named(said, "h\xc3\xa9.npy", 0), "h\\xc3\\xa9: " NAMES);
    cr_expect_str_eq(named(said, "a\0b.npy", 7), "a\\x00b: " NAMES);
    memset(name, 'x', sizeof name);
    memcpy(name + 127, ".npy", 5);
    cr_expect_str_eq(named(said, name, 0), "");
    memset(name, 'x', sizeof name);
    memcpy(name + 128, ".npy", 5);
    char wanted[SENTENCE];
    snprintf(wanted, sizeof wanted, "%.89s...: a name of 128 bytes, wanted at most 127", name);
    cr_expect_str_eq(named(said, name, 0), wanted);
}

Test(npz, too_many_members)
{
    struct npz z = { 0 };
    char name[16];

    for (int k = 0; k < NPZ_MEMBERS; k++) {
        snprintf(name, sizeof name, "m%d", k);
        cr_assert_not_null(npz_add(&z, name, NPZ_U1, 0, NULL));
    }
    cr_expect_null(npz_add(&z, "one_more", NPZ_U1, 0, NULL));
    cr_expect_str_eq(z.error, "more than 4096 members");
    cr_expect_eq(z.count, NPZ_MEMBERS);
    npz_free(&z);
}

/* ---- what is no file to read ---- */

static char folder[64];

static const char *in_folder(char path[128], const char *name)
{
    snprintf(path, 128, "%s/%s", folder, name);
    return path;
}

static void enter(void)
{
    snprintf(folder, sizeof folder, "/tmp/qkvec-test-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
}

static void leave(void)
{
    DIR *dir = opendir(folder);
    char path[400];

    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (unlink(path))
            rmdir(path);
    }
    closedir(dir);
    cr_expect_eq(rmdir(folder), 0);
}

static const char *read_verdict(char said[SENTENCE], const char *path)
{
    struct npz z;
    const char *wrong = npz_read(&z, path);

    snprintf(said, SENTENCE, "%s", wrong ? wrong : "");
    npz_free(&z);
    return said;
}

/* The timeout is the test: a reader that waits for a pipe hangs here. */
Test(npz, reads_regular_files_only, .init = enter, .fini = leave, .timeout = 20)
{
    char path[128], said[SENTENCE];

    cr_expect_str_eq(read_verdict(said, in_folder(path, "none")), "cannot be opened: No such file or directory");
    cr_expect_str_eq(read_verdict(said, folder), "is a directory, wanted a regular file");
    cr_expect_str_eq(read_verdict(said, "/dev/zero"), "is a character device, wanted a regular file");
    cr_assert_eq(mkfifo(in_folder(path, "pipe"), 0600), 0);
    cr_expect_str_eq(read_verdict(said, path), "is a pipe, wanted a regular file");

    FILE *f = fopen(in_folder(path, "empty"), "wb");
    fclose(f);
    cr_expect_str_eq(read_verdict(said, path), "empty, wanted a ZIP archive");
    cr_assert_eq(chmod(path, 0), 0);
    uid_t self = geteuid();    /* nothing is unreadable for root, so it becomes nobody for a moment */
    chmod(folder, 0755);
    if (self == 0 && seteuid(65534))
        fprintf(stderr, "unreadable files: skipped, root cannot become somebody else here\n");
    else
        cr_expect_str_eq(read_verdict(said, path), "cannot be opened: Permission denied");
    cr_assert_eq(seteuid(self), 0);

    f = fopen(in_folder(path, "huge"), "wb");
    cr_assert_eq(fseek(f, (long)NPZ_FILE_BYTES, SEEK_SET), 0);
    putc(0, f);
    fclose(f);
    cr_expect_str_eq(read_verdict(said, path), "has 1073741825 bytes, wanted at most 1073741824");
}

/* ---- our own files ---- */

static const size_t shape23[] = { 2, 3 };

static void fill(struct npz *z)
{
    static const double odd[] = { 0.1, -0.0, INFINITY, -INFINITY, 5e-324, 1e300 };

    for (int type = 0; type < NPZ_TYPES; type++) {
        struct npz_array *a = npz_add(z, npz_type_name((enum npz_type)type) + 1, (enum npz_type)type, 2, shape23);
        cr_assert_not_null(a, "%s", z->error);
        for (size_t i = 0; i < 6; i++)
            npz_set(a, i, type == NPZ_F8 ? odd[i] : type == NPZ_B1 ? (double)(i % 2) : (double)i);
    }
    cr_assert_not_null(npz_add(z, "scalar", NPZ_F4, 0, NULL));
    cr_assert_not_null(npz_add(z, "empty", NPZ_F4, 3, (size_t[]){ 4, 0, 7 }));
}

static struct bytes slurp(const char *path)
{
    struct bytes b = { 0 };
    unsigned char piece[4096];
    FILE *f = fopen(path, "rb");

    cr_assert_not_null(f);
    for (size_t n; (n = fread(piece, 1, sizeof piece, f));)
        add_bytes(&b, piece, n);
    fclose(f);
    return b;
}

Test(npz, round_trip, .init = enter, .fini = leave)
{
    struct npz z = { 0 }, back;
    char path[128];

    fill(&z);
    cr_assert_null(npz_write(&z, in_folder(path, "a.npz")), "%s", z.error);
    cr_assert_null(npz_read(&back, path), "%s", back.error);
    cr_assert_eq(back.count, z.count);
    for (size_t i = 0; i < z.count; i++) {
        struct npz_array *a = &z.arrays[i], *b = &back.arrays[i];
        cr_expect_str_eq(a->name, b->name);
        cr_expect(a->type == b->type && a->ndim == b->ndim && a->size == b->size, "%s", a->name);
        cr_expect_arr_eq(a->shape, b->shape, sizeof a->shape);
        if (a->size)
            cr_expect_arr_eq(a->data, b->data, a->size * npz_type_size(a->type));
    }
    npz_free(&back);
    npz_free(&z);
}

Test(npz, the_same_arrays_make_the_same_bytes_of_1980, .init = enter, .fini = leave)
{
    struct npz z = { 0 };
    char path[128];

    fill(&z);
    cr_assert_null(npz_write(&z, in_folder(path, "a.npz")));
    struct bytes one = slurp(path);
    cr_assert_null(npz_write(&z, in_folder(path, "b.npz")));
    struct bytes two = slurp(path);
    cr_assert_eq(one.n, two.n);
    cr_expect_arr_eq(one.p, two.p, one.n);
    cr_expect_eq(get16(one.p + 10), 0);           /* midnight */
    cr_expect_eq(get16(one.p + 12), 1 << 5 | 1);  /* January the first, year 0 of ZIP */
    free(one.p);
    free(two.p);
    npz_free(&z);
}

/* Noise alone grows by some bytes in each block; what the header saves has to
 * be lost first. */
Test(npz, what_does_not_shrink_is_stored, .init = enter, .fini = leave)
{
    struct npz z = { 0 }, back;
    char path[128];
    struct npz_array *a = npz_add(&z, "noise", NPZ_U1, 1, (size_t[]){ 3000000 });
    uint32_t x = 1;

    for (size_t i = 0; i < a->size; i++) {
        x ^= x << 13, x ^= x >> 17, x ^= x << 5;
        ((unsigned char *)a->data)[i] = (unsigned char)(x >> 11);
    }
    cr_assert_not_null(npz_add(&z, "flat", NPZ_U1, 1, (size_t[]){ 5000 }));
    cr_assert_null(npz_write(&z, in_folder(path, "a.npz")));
    struct bytes b = slurp(path);
    cr_expect_eq(get16(b.p + 8), 0);
    cr_expect_eq(get32(b.p + 18), 128 + 3000000);
    cr_expect_lt(b.n, 128 + 3000000 + 600);
    cr_assert_null(npz_read(&back, path), "%s", back.error);
    cr_expect_arr_eq(back.arrays[0].data, z.arrays[0].data, 3000000);
    free(b.p);
    npz_free(&back);
    npz_free(&z);
}

static size_t files_in_folder(void)
{
    DIR *dir = opendir(folder);
    size_t count = 0;

    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.' || strstr(entry->d_name, "tmp") != NULL;
    closedir(dir);
    return count;
}

static const char *write_verdict(char said[SENTENCE], const char *path)
{
    struct npz z = { 0 };

    fill(&z);
    const char *wrong = npz_write(&z, path);
    snprintf(said, SENTENCE, "%s", wrong ? wrong : "");
    npz_free(&z);
    return said;
}

Test(npz, writes_over_files_and_through_links_and_over_nothing_else, .init = enter, .fini = leave, .timeout = 20)
{
    char path[128], link[128], said[SENTENCE];
    struct stat st;

    cr_expect_str_eq(write_verdict(said, in_folder(path, "no/a.npz")), "cannot be written: No such file or directory");
    cr_expect_str_eq(write_verdict(said, folder), "is a directory, wanted a regular file or none");
    cr_expect_str_eq(write_verdict(said, "/dev/null"), "is a character device, wanted a regular file or none");
    cr_assert_eq(mkfifo(in_folder(path, "pipe"), 0600), 0);
    cr_expect_str_eq(write_verdict(said, path), "is a pipe, wanted a regular file or none");
    cr_expect_eq(files_in_folder(), 1);
    cr_expect_str_eq(write_verdict(said, in_folder(path, "a.npz")), "");
    cr_assert_eq(symlink("a.npz", in_folder(link, "link")), 0);
    cr_expect_str_eq(write_verdict(said, link), "");
    cr_expect(lstat(link, &st) == 0 && S_ISLNK(st.st_mode), "the link was replaced");
    cr_expect_str_eq(read_verdict(said, link), "");
    cr_expect_eq(files_in_folder(), 3);
}

/* A limit on the size of files stands in for a full disk. */
Test(npz, a_full_disk_is_a_sentence_and_leaves_the_old_file, .init = enter, .fini = leave)
{
    char path[128], said[SENTENCE];
    struct rlimit limit = { 200, RLIM_INFINITY };

    cr_assert_str_eq(write_verdict(said, in_folder(path, "a.npz")), "");
    signal(SIGXFSZ, SIG_IGN);
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_expect_str_eq(write_verdict(said, path), "cannot be written: File too large");
    limit.rlim_cur = RLIM_INFINITY;
    setrlimit(RLIMIT_FSIZE, &limit);
    cr_expect_str_eq(read_verdict(said, path), "");
    cr_expect_eq(files_in_folder(), 1);
}

Test(npz, what_cannot_be_added)
{
    struct npz z = { 0 };

    cr_expect_str_eq(npz_write(&z, "/dev/null"), "no arrays to write");
    cr_assert_not_null(npz_add(&z, "a", NPZ_F4, 2, shape23));
    cr_expect_null(npz_add(&z, "a", NPZ_F4, 2, shape23));
    cr_expect_str_eq(z.error, "a: two members of this name");
    cr_expect_null(npz_add(&z, "a/b", NPZ_F4, 2, shape23));
    cr_expect_str_eq(z.error, "a/b: " NAMES);
    cr_expect_null(npz_add(&z, "", NPZ_F4, 2, shape23));
    cr_expect_str_eq(z.error, "a member without a name");
    cr_expect_null(npz_add(&z, "deep", NPZ_F4, 5, (size_t[]){ 1, 1, 1, 1, 1 }));
    cr_expect_str_eq(z.error, "deep: 5 dimensions, wanted at most 4");
    cr_expect_null(npz_add(&z, "big", NPZ_F4, 2, (size_t[]){ 1 << 15, 1 << 15 }));
    cr_expect_str_eq(z.error, "big: takes more than 2147483648 bytes");
    cr_expect_null(npz_add(&z, "over", NPZ_F4, 3, (size_t[]){ SIZE_MAX / 2 + 1, 2, 0 }));
    cr_expect_str_eq(z.error, "over: takes more than 2147483648 bytes");
    cr_expect_eq(z.count, 1);
    npz_free(&z);
}

Test(npz, a_copy_leaves_out_what_is_named)
{
    struct npz z = { 0 }, copy;

    fill(&z);
    cr_assert_null(npz_copy(&copy, &z, NULL));
    cr_assert_eq(copy.count, z.count);
    for (size_t i = 0; i < z.count; i++) {
        cr_expect_str_eq(copy.arrays[i].name, z.arrays[i].name);
        cr_expect_neq(copy.arrays[i].data, z.arrays[i].data);
        if (z.arrays[i].size)
            cr_expect_arr_eq(copy.arrays[i].data, z.arrays[i].data, z.arrays[i].size * npz_type_size(z.arrays[i].type));
    }
    npz_free(&copy);
    cr_assert_null(npz_copy(&copy, &z, (const char *const[]){ "f4", "scalar", NULL }));
    cr_expect_eq(copy.count, z.count - 2);
    cr_expect(!npz_get(&copy, "f4") && !npz_get(&copy, "scalar") && npz_get(&copy, "f2") && npz_get(&copy, "empty"));
    npz_free(&copy);
    npz_free(&z);
}

Test(npz, a_number_becomes_what_its_type_can_hold)
{
    static const double wanted[NPZ_TYPES] = { 1.2001953125, (double)1.2f, 1.2, 1, 1, 1 };
    struct npz z = { 0 };

    for (int type = 0; type < NPZ_TYPES; type++) {
        struct npz_array *a = npz_add(&z, npz_type_name((enum npz_type)type) + 1, (enum npz_type)type, 0, NULL);
        npz_set(a, 0, 1.2);
        cr_expect_eq(npz_value(a, 0), wanted[type], "%s", a->name);
        npz_set(a, 0, 0);
        cr_expect_eq(npz_value(a, 0), 0, "%s", a->name);
    }
    npz_free(&z);
}

/* ---- limits ---- */

/* Two megabytes could inflate to just beyond the limit; nothing is inflated. */
Test(npz, a_bomb_is_refused_before_it_is_unpacked)
{
    struct part part = { "a.npy", 0, { calloc(1, 2100000), 2100000 }, 0 };
    struct archive z = archive_of(&part, 1);
    char said[SENTENCE];

    for (int k = 0; k < 2; k++) {
        unsigned char *p = z.b.p + (k ? z.central[0] + 6 : 4);
        put16(p + 4, 8);
        put32(p + 18, 0x80000001);
    }
    cr_expect_str_eq(verdict(said, z.b.p, z.b.n), "a: with it the arrays take more than 2147483648 bytes");
    free(z.b.p);
}

Test(npz, what_could_not_be_read_back_is_not_written, .init = enter, .fini = leave)
{
    struct npz z = { 0 };
    char path[128];

    /* Never touched, so that they cost addresses and no memory. */
    if (!npz_add(&z, "a", NPZ_U1, 1, (size_t[]){ 0x50000000 }) || !npz_add(&z, "b", NPZ_U1, 1, (size_t[]){ 0x50000000 }))
        fprintf(stderr, "more than 2 GiB: skipped, this machine has no room for it\n");
    else
        cr_expect_str_eq(npz_write(&z, in_folder(path, "a.npz")), "b: with it the arrays take more than 2147483648 bytes");
    cr_expect_eq(files_in_folder(), 0);
    npz_free(&z);
}
