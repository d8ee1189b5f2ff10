#!/bin/sh
# Whether a header is there, and how to get it if it is not: sh header.sh HEADER PACKAGE [FLAG…]
header=$1 package=$2
shift 2
echo "#include <$header>" | g++ -std=c++17 -E -x c++ "$@" - >/dev/null 2>&1 && exit
echo "There is no $header: apt install $package"
exit 1
