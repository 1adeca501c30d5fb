# SPDX-License-Identifier: MIT
# gnuplot weights.gp > weights.svg: attn_weights of core/answer, one panel for each item and head.
set terminal svg size 720,500 font "sans-serif,13"
grey = "#808080"
set palette defined (0 "#e8eef7", 0.5 "#6f9fd0", 1 "#08306b")
set cbrange [0:1]
unset colorbox
unset key
unset border
set size ratio 1
set xrange [-0.5:3.5]
set yrange [3.5:-0.5]
set xtics 0,1,3 scale 0 textcolor rgb grey offset 0,0.5
set ytics 0,1,3 scale 0 textcolor rgb grey offset 0.5,0
set style fill solid border rgb "#ffffff"
set multiplot layout 2,3 margins 0.08,0.98,0.09,0.93 spacing 0.07,0.14
do for [block = 0:5] {
  set title sprintf("item %d, head %d", block / 3, block % 3) textcolor rgb grey offset 0,-0.6
  set xlabel (block > 2 ? "key" : "") textcolor rgb grey offset 0,0.6
  set ylabel (block % 3 == 0 ? "query" : "") textcolor rgb grey offset 1,0
  plot "weights.dat" index block using 1:2:(0.5):(0.5):3 with boxxyerror fillcolor palette fillstyle solid border rgb "#ffffff", \
       "" index block using 1:2:(sprintf("%.2f", $3)):($3 > 0.6 ? 0xffffff : 0x000000) with labels textcolor rgb variable
}
unset multiplot
