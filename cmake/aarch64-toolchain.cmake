# SPDX-License-Identifier: Apache-2.0
# Debian's cross compiler and its arm64 libraries, which lie beside our own.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_LIBRARY_ARCHITECTURE aarch64-linux-gnu)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
# Only there: a library of this machine would be found in the end, and refused by the linker.
set(CMAKE_LIBRARY_PATH /usr/lib/aarch64-linux-gnu)
set(CMAKE_FIND_USE_CMAKE_SYSTEM_PATH FALSE)
