# SPDX-License-Identifier: MIT
# What the libraries export: the functions of the header, no more, no less.
. "$(dirname "$0")/helper.sh"

sed -n 's/^QKVEC_EXPORT.*[ *]\(qkvec_[a-z_]*\)(.*/\1/p' "$PREFIX/include/qkvec/qkvec.h" | sort > wanted
[ "$(wc -l < wanted)" -gt 10 ] || fail "the header has no functions: $(cat wanted)"

"$NM" -D --defined-only "$PREFIX/$LIBDIR/libqkvec.so" | awk '{ print $NF }' | sort > shared
cmp -s wanted shared || fail "libqkvec.so: $(diff wanted shared)"
if [ -e "$PREFIX/$LIBDIR/libqkvec.a" ]; then
    "$NM" -g --defined-only "$PREFIX/$LIBDIR/libqkvec.a" | awk 'NF == 3 { print $3 }' | sort > static
    cmp -s wanted static || fail "libqkvec.a: $(diff wanted static)"
else
    echo "no static library"
fi

# names of ours in another program: mha_forward is theirs
cat > main.c <<'END'
#include <qkvec/qkvec.h>
int mha_forward(void), npz_read(void), judge(void);
int mha_forward(void) { return 1; }
int npz_read(void) { return 2; }
int judge(void) { return 4; }
int main(void)
{
    char error[QKVEC_SENTENCE];
    struct qkvec_corpus *c = qkvec_corpus_open(0, error);
    struct qkvec_vector *v = c ? qkvec_vector_open(c, "core/answer", error) : 0;
    struct qkvec_verdict verdict;
    return v && qkvec_judge_kernel(&verdict, v, "float32", qkvec_reference, 0) && mha_forward() + npz_read() + judge() == 7 ? 0 : 1;
}
END
"$CC" $FLAGS -I"$PREFIX/include" main.c -o main -L"$PREFIX/$LIBDIR" -lqkvec -Wl,-rpath,"$PREFIX/$LIBDIR"
./main || fail "the shared library meets names of a program"
if [ -e "$PREFIX/$LIBDIR/libqkvec.a" ]; then
    "$CC" $FLAGS -I"$PREFIX/include" main.c -o main "$PREFIX/$LIBDIR/libqkvec.a" -lz -lm -lpthread -ldl
    QKVEC_VECTORS="$PREFIX/share/qkvec/vectors" ./main || fail "the static library meets names of a program"
fi

# the headers: each by itself, in C and in C++
for header in kernel qkvec; do
    echo "#include <qkvec/$header.h>" > one.c
    "$CC" $FLAGS -std=c99 -Wall -Wextra -Wpedantic -Werror -I"$PREFIX/include" -fsyntax-only one.c
    if command -v c++ > /dev/null; then
        c++ $FLAGS -std=c++11 -Wall -Wextra -Wpedantic -Werror -I"$PREFIX/include" -fsyntax-only -x c++ one.c
    fi
done
