# SPDX-License-Identifier: MIT
# Plain mode always; the screen where there is a tmux to look at it with.
. "$(dirname "$0")/helper.sh"

expect 0 step core/printable
empty err
says out "1/27 query_rows (1, 2, 4)" "27/27 attn_weights_mean (1, 2, 3)" \
    "PyTorch  s = qpp @ kpp.transpose(-1, -2) / math.sqrt(D)" "q_heads[n,h,i,d] = q_proj[n,i,h*D+d]"
same "$(grep -c '^PyTorch' out)" 27 "stages"
LC_ALL=C grep -q '[^ -~]' out && complain "not plain ASCII"

# the numbers are on paper in gen/cases.py
expect 0 step core/printable q_proj 0,1,0
says out "q_proj[0,1,0] = 0*1 + 1*0 + 1*1 + (-1)*0 + 1 = 2" "row query_rows[0,1,:], column q_weight_t[:,0], and q_bias[0]"
expect 0 step core/printable scores '[0,0,0,1]'
says out "scores[0,0,0,1] = (1*2 + (-1)*1) / sqrt(2) = 1 / 1.41421 = 0.707107"
expect 0 step core/printable 22 0,1,0,2
says out "22/27 attn_weights" "exp(-1.41421 - 0) / (exp(0 - 0) + exp(0 - 0) + exp(-1.41421 - 0)) = 0.243117 / 2.24312 = 0.108383"
expect 0 step core/printable k_weight 1,2
says out "k_weight[1,2] = in_proj_weight[5,2] = -1"
expect 0 step core/answer q_proj 1,2,3
says out " + ... + " "float32 may move it by 8 sigma"

# what differs from vector to vector
expect 0 step layout/seq_first query_rows 2,1,0
says out "query.transpose(0, 1)" "query_rows[2,1,0] = query[1,2,0]"
expect 0 step projection/kdim_vdim k_weight 2,3
says out "k_weight[2,3] = k_proj_weight[2,3]"
expect 0 step bias_kv/both_masks k_heads 0,1,7,2
says out "k_heads[0,1,7,2] = bias_k[7]"
expect 0 step bias_kv/both_masks k_heads 0,1,8,2
says out "k_heads[0,1,8,2] = 0, the row that add_zero_attn appends"
expect 0 step bias_kv/both_float_masks mask 0,1,2,2
says out "attn_mask[n*H+h,i,j] + key_padding_mask[n,j]" "attn_mask[1,2,2] is -4.03125; key_padding_mask[0,2] is 1.4375"
expect 0 step bias_kv/both_float_masks mask 0,1,2,8
says out "an appended row is never masked"
expect 0 step fully_masked/first_row attn_weights
says out "-inf minus -inf is nan"
expect 0 step core/no_bias
lacks out q_bias
expect 0 step degenerate/no_keys
says out "attn_weights is empty"
for vector in $("$QKVEC" list | cut -f1); do
    "$QKVEC" step "$vector" > out 2> err || complain "qkvec step $vector"
done

expect 2 step
says err "name one vector"
expect 2 step core/printable no_such_stage
says err "no stage of core/printable, which has 27"
expect 2 step core/printable 28
expect 2 step core/printable 0
for index in 0 0,0,0,9 0,0,0,0,0 0,0,0,x '' ,,, 99999999999999999999,0,0,0; do
    expect 2 step core/printable scores "$index"
    says err "no element of scores"
done
expect 0 step --help
says out "usage: qkvec step"

if ! command -v tmux > /dev/null; then
    echo "SKIPPED the screen: no tmux here"
    finish
fi

# ---- in a terminal ----

unset TMUX COLORTERM
tmux() { command tmux -S "$work/socket" -f /dev/null "$@"; }
trap 'tmux kill-server 2> /dev/null; rm -rf "$work"' EXIT

# shows TEXT...: each appears on the screen, within ten seconds
shows() {
    for text in "$@"; do
        tries=0
        until tmux capture-pane -p | grep -qF -e "$text"; do
            tries=$((tries + 1))
            if [ $tries = 100 ]; then
                complain "the screen does not show: $text"
                tmux capture-pane -p
                return
            fi
            sleep 0.1
        done
    done
}
press() { tmux send-keys "$@"; }
# The terminal echoes and edits lines again, shows its cursor, and has its first screen back.
restored() {
    tries=0
    until [ "$(tmux display-message -p '#{alternate_on}')" = 0 ] || [ $tries = 100 ]; do
        tries=$((tries + 1))
        sleep 0.1
    done
    press "stty -a | grep -q '[^-]icanon' && stty -a | grep -q '[^-]echo ' && echo good termi''nal, $1" Enter
    shows "good terminal, $1"
    same "$(tmux display-message -p '#{alternate_on}#{cursor_flag}')" 01 "screen and cursor after $1"
    press "clear" Enter
}

tmux new-session -d -x 80 -y 24 'PS1="$ " sh'
tmux set-option -g remain-on-exit on
press "$QKVEC step core/printable" Enter
shows "1/27 query_rows (1, 2, 4)" "PyTorch  query" "Enter next  b back"
press Enter
shows "2/27 key_rows"
press b
shows "1/27 query_rows"
press b
shows "1/27 query_rows"
press 2 0
shows "stage 20, then Enter"
press Enter
shows "20/27 scores" "scores[0,0,0,0] ="
press Right
shows "scores[0,0,0,1] = (1*2 + (-1)*1) / sqrt(2) = 1 / 1.41421 = 0.707107"
press Down
shows "scores[0,0,1,1] ="
press NPage
shows "scores[0,1,1,1] =" "block [0,1]"
press Right Right Right Right
shows "scores[0,1,1,2] ="
press Left Left Left
shows "scores[0,1,0,2] ="
press 9 9 Enter
shows "20/27 scores"
press End
shows "27/27 attn_weights_mean"
press Enter
shows "27/27 attn_weights_mean"
press 2 2 Enter
shows "22/27 attn_weights"
tmux capture-pane -pe | grep -q '48;5;' || complain "no palette of 256 colours"
tmux capture-pane -pe | grep -q '48;2;' && complain "24-bit colours that nobody promised"

# smaller, larger, tiny
tmux resize-window -x 36 -y 10
shows "attn_weights[0,0,0,0] ="
tmux capture-pane -p | awk 'length > 36 { exit 1 }' || complain "too wide for 36 columns"
tmux resize-window -x 8 -y 3
tmux resize-window -x 1 -y 1
tmux resize-window -x 120 -y 40
shows "22/27 attn_weights" "float32 may move it"
press q
restored q

press "$QKVEC step core/answer" Enter
shows "1/27 query_rows"
press C-c
restored interrupt
press "$QKVEC step core/answer" Enter
shows "1/27 query_rows"
press C-z
restored stop
press "fg" Enter
shows "1/27 query_rows"
press Enter
shows "2/27 key_rows"
press q
restored continued
press "sh -c 'echo \$\$ > pid; exec $QKVEC step core/answer'" Enter
shows "1/27 query_rows"
kill -SEGV "$(cat pid)"
restored crash
press "COLORTERM=truecolor $QKVEC step core/printable scores" Enter
shows "20/27 scores"
tmux capture-pane -pe | grep -q '48;2;' || complain "no 24-bit colours"
press q
restored colours
press "NO_COLOR=1 $QKVEC step core/printable scores" Enter
shows "20/27 scores" "4.243#"
tmux capture-pane -pe | grep -q "$(printf '\033')" && complain "colours in spite of NO_COLOR"
press q
restored plain
press "$QKVEC step --all core/printable | head -n 1; TERM=dumb $QKVEC step core/printable mask" Enter
shows "1/27 query_rows" "this vector has no mask"
finish
