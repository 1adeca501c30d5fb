# SPDX-License-Identifier: MIT
# gnuplot -e "data='scaling.dat'; picture='scaling.svg'" scaling.gp
set terminal svg size 640,480 font "sans-serif,13" dynamic
set output picture
set logscale xy
set format xy "10^{%L}"
set key top left
set grid
set xlabel "multiplications: 4 L E^2 + 2 L^2 E"
set ylabel "time of the reference, in that of L=128 E=128"
reference = 128.0 * 128 * 128 * 6
plot x / reference with lines linecolor "grey" title "in proportion", \
     data using 3:4 with points pointtype 7 linecolor "#2060a0" title "N=1, H=8"
