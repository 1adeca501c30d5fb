# SPDX-License-Identifier: MIT
# The helper's checks must be able to fail, or no script here proves a thing.
. "$(dirname "$0")/helper.sh"

probe() {
    before=$wrong
    "$@" > /dev/null
    seen=$wrong
    wrong=$before
    [ "$seen" -gt "$before" ] || complain "no complaint from: $*"
}

printf 'a line\n' > file
last="the helper"
probe expect 0 no_such_command
probe expect 2 --help
probe says file "another line"
probe lacks file "a line"
probe empty file
probe same a b "letters"
probe results dir no/such_vector

( wrong=1; finish > /dev/null ) && complain "finish passes what is wrong"
( wrong=0; finish > /dev/null ) || complain "finish fails what is right"
finish
