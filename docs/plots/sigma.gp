# SPDX-License-Identifier: MIT
# gnuplot sigma.gp > sigma.svg: how many sigma an honest float32 kernel is off, over all vectors.
set terminal svg size 720,380 font "sans-serif,13"
grey = "#808080"
stats "sigma.dat" using 2 nooutput
total = STATS_sum
set border 3 linecolor rgb grey
set xrange [-9:9]
set yrange [0.5:*]
set logscale y
set format y "10^{%L}"
set xtics -8,2,8 nomirror textcolor rgb grey
set ytics nomirror textcolor rgb grey
set mytics 1
set xlabel "error of an element in sigma" textcolor rgb grey
set ylabel "how many elements" textcolor rgb grey
set key at graph 0.98,0.98 textcolor rgb grey samplen 1.5
set style fill solid 0.9 noborder
set arrow from -8,0.5 to -8,graph 0.8 nohead linewidth 2 dashtype 2 linecolor rgb "#d95f02"
set arrow from 8,0.5 to 8,graph 0.8 nohead linewidth 2 dashtype 2 linecolor rgb "#d95f02"
set label "rejected beyond 8" at 7.8,graph 0.72 right textcolor rgb "#d95f02"
plot "sigma.dat" using 1:2 with boxes linecolor rgb "#4a90d9" title sprintf("the recipe in float32, %d elements", total), \
     total * 0.125 * exp(-x * x / 2) / sqrt(2 * pi) with lines linewidth 2 linecolor rgb grey title "what sigma allows for"
