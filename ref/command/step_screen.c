/* SPDX-License-Identifier: MIT */
/* POSIX: the terminal, read key by key, and given back as it was found. */
#define _XOPEN_SOURCE 700
#define _DEFAULT_SOURCE    /* SIGWINCH, TIOCGWINSZ */

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include "command.h"
#include "step.h"

/* A signal handler can be told nothing, so this much is kept aside. */
static struct termios before;
static volatile sig_atomic_t taken;

static const char enter[] = "\033[?1049h\033[?25l\033[2J", leave[] = "\033[0m\033[?25h\033[?1049l";

static void say_terminal(const char *text, size_t length)
{
    ssize_t ignored = write(STDOUT_FILENO, text, length);

    (void)ignored;
}

static void give_back(void)
{
    if (!taken)
        return;
    taken = 0;
    say_terminal(leave, sizeof leave - 1);
    tcsetattr(STDIN_FILENO, TCSANOW, &before);
}

static void take(void)
{
    struct termios raw = before;

    raw.c_lflag &= ~(tcflag_t)(ICANON | ECHO);    /* Ctrl-C and Ctrl-Z still send their signals */
    raw.c_iflag &= ~(tcflag_t)(ICRNL | IXON);
    raw.c_cc[VMIN] = 1;
    raw.c_cc[VTIME] = 0;
    tcsetattr(STDIN_FILENO, TCSANOW, &raw);
    say_terminal(enter, sizeof enter - 1);
    taken = 1;
}

/* Restore, then let the signal do what it would have done. */
static void on_end(int number)
{
    give_back();
    signal(number, SIG_DFL);
    raise(number);
}

static void on_stop(int number)
{
    int saved = errno;
    sigset_t set;

    give_back();
    signal(number, SIG_DFL);
    raise(number);
    sigemptyset(&set);
    sigaddset(&set, number);
    sigprocmask(SIG_UNBLOCK, &set, NULL);    /* stops here, and goes on here */
    signal(number, on_stop);
    take();
    errno = saved;
}

static void on_resize(int number)
{
    (void)number;    /* it is enough that read() ends */
}

static void catch(int number, void (*handler)(int))
{
    struct sigaction action;

    memset(&action, 0, sizeof action);
    action.sa_handler = handler;
    sigemptyset(&action.sa_mask);
    sigaction(number, &action, NULL);
}

static void catch_all(void)
{
    static const int ends[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT };

    for (size_t k = 0; k < sizeof ends / sizeof *ends; k++)
        catch(ends[k], on_end);
    catch(SIGTSTP, on_stop);
    catch(SIGWINCH, on_resize);
    catch(SIGCONT, on_resize);
    atexit(give_back);
}

/* ---- keys ---- */

enum key { NOTHING = 256, UP, DOWN, LEFT, RIGHT, FIRST, LAST, PAGE_UP, PAGE_DOWN, END_OF_INPUT };

/* One byte, or NOTHING after a while. */
static int more(char *c)
{
    struct pollfd p = { .fd = STDIN_FILENO, .events = POLLIN };

    return poll(&p, 1, 50) == 1 && read(STDIN_FILENO, c, 1) == 1;
}

/* ESC [ A and the like; the numbers and letters between are skipped. */
static int escape(void)
{
    static const char letters[] = "ABDCHF";
    static const int keys[] = { UP, DOWN, LEFT, RIGHT, FIRST, LAST };
    char c, number = 0;

    if (!more(&c) || (c != '[' && c != 'O'))
        return NOTHING;
    while (more(&c) && ((c >= '0' && c <= '9') || c == ';'))
        number = number ? number : c;
    if (c == '~')
        return number == '5' ? PAGE_UP : number == '6' ? PAGE_DOWN : number == '1' || number == '7' ? FIRST : number == '4' || number == '8' ? LAST : NOTHING;
    for (int k = 0; letters[k]; k++)
        if (c == letters[k])
            return keys[k];
    return NOTHING;
}

static int next_key(void)
{
    char c;
    ssize_t n = read(STDIN_FILENO, &c, 1);

    if (n == 0 || (n < 0 && errno != EINTR))
        return END_OF_INPUT;
    if (n < 0)
        return NOTHING;    /* a signal: the window has another size */
    return c == '\033' ? escape() : (unsigned char)c;
}

/* ---- what they do ---- */

/* One step in dimension d, on into the next row or block at the end of this one. */
static void move(struct walk *w, int d, int forward)
{
    const struct array *a = &w->t[w->stage];

    for (; d >= 0; d--) {
        if (forward && w->at[d] + 1 < a->shape[d]) {
            w->at[d]++;
            return;
        }
        if (!forward && w->at[d] > 0) {
            w->at[d]--;
            return;
        }
        if (d && a->size)
            w->at[d] = forward ? 0 : a->shape[d] - 1;
    }
}

static void arrow(struct walk *w, int key)
{
    int ndim = w->t[w->stage].ndim, d = key == LEFT || key == RIGHT ? ndim - 1 : key == UP || key == DOWN ? ndim - 2 : ndim - 3;
    struct walk old = *w;

    if (d < 0)
        return;
    move(w, d, key == RIGHT || key == DOWN || key == PAGE_DOWN);
    for (int k = 0, moved = 0; k <= d; k++) {    /* at the very end it stays */
        moved |= w->at[k] != old.at[k];
        if (k == d && (!moved || (key == RIGHT || key == DOWN || key == PAGE_DOWN) != (walk_offset(w) > walk_offset(&old))))
            *w = old;
    }
}

static int is_digit(int key)
{
    return key >= '0' && key <= '9';
}

/* 0 to leave. */
static int obey(struct walk *w, int key, char typed[4])
{
    size_t place = 0, length = strlen(typed);

    if (is_digit(key)) {
        if (length < 3) {
            typed[length] = (char)key;
            typed[length + 1] = 0;
        }
        return 1;
    }
    if (length && (key == '\r' || key == '\n')) {
        place = strtoul(typed, NULL, 10);
        if (place && walk_at(w, place) != STAGES)
            walk_go(w, walk_at(w, place));
    } else if (length && (key == 0x7f || key == '\b')) {
        typed[length - 1] = 0;
        return 1;
    } else if (key == '\r' || key == '\n' || key == ' ' || key == 'n')
        walk_go(w, walk_neighbour(w, w->stage, 1));
    else if (key == 'b' || key == 'p' || key == 0x7f || key == '\b')
        walk_go(w, walk_neighbour(w, w->stage, 0));
    else if (key == FIRST || key == LAST)
        walk_go(w, walk_at(w, key == FIRST ? 1 : walk_count(w)));
    else if (key >= UP && key <= PAGE_DOWN)
        arrow(w, key);
    if (key != NOTHING)
        typed[0] = 0;
    return key != 'q' && key != 'Q' && key != END_OF_INPUT && key != 4;
}

int step_screen(struct walk *w)
{
    struct winsize size;
    char typed[4] = "";

    if (tcgetattr(STDIN_FILENO, &before))
        return complain("step", "the keyboard is no terminal");
    catch_all();
    take();
    do {
        int got = ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row && size.ws_col;
        step_draw(w, typed, got ? size.ws_row : 24, got ? size.ws_col : 80);
    } while (obey(w, next_key(), typed));
    give_back();
    return 0;
}
