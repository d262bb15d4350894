# SPDX-License-Identifier: Apache-2.0
# One library per folder of src/. A folder's links are the layer table; scripts/check-layers compares
# the #include lines with the same declarations, so a forbidden include fails before it links.

find_package(Threads REQUIRED)
if(TENON_TESTS)
  find_package(GTest REQUIRED)
endif()

# tenon_static_library(VARIABLE NAME): the full path of libNAME.a. A path, not a name: for names
# CMake switches the linker between static and dynamic search, which breaks the static runner.
function(tenon_static_library VARIABLE NAME)
  find_library(${VARIABLE} NAMES lib${NAME}.a REQUIRED)
endfunction()

# tenon_folder(NAME [LINKS folder...] [LIBS library...] [EMBEDS object-library...])
# Files in folders below src/NAME count like those in it.
#   src/NAME/*.cc         -> library tenon_NAME
#   src/NAME/*_main.cc    -> left to an explicit add_executable
#   src/NAME/*_compat.cc  -> likewise: objects of one program, not of the library
#   src/NAME/*_test.cc    -> one test program NAME_test, which also gets the EMBEDS
#   src/NAME/*_fuzz.cc    -> one fuzz program each, with TENON_FUZZ and the EMBEDS
function(tenon_folder NAME)
  cmake_parse_arguments(ARG "" "" "LINKS;LIBS;EMBEDS" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${NAME})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(main|test|fuzz|compat)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER fuzzers INCLUDE REGEX "_fuzz\\.cc$")

  list(TRANSFORM ARG_LINKS PREPEND tenon_)
  if(sources)
    add_library(tenon_${NAME} STATIC ${sources})
    set(kind PUBLIC)
  else()
    add_library(tenon_${NAME} INTERFACE)
    set(kind INTERFACE)
  endif()
  target_include_directories(tenon_${NAME} ${kind} ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(tenon_${NAME} ${kind} ${ARG_LINKS} ${ARG_LIBS})

  if(TENON_TESTS AND tests)
    add_executable(${NAME}_test ${tests})
    target_link_libraries(${NAME}_test PRIVATE tenon_${NAME} GTest::gtest_main Threads::Threads)
    foreach(embed ${ARG_EMBEDS})
      if(TARGET ${embed})
        target_link_libraries(${NAME}_test PRIVATE ${embed})
      endif()
    endforeach()
    add_test(NAME ${NAME} COMMAND ${NAME}_test)
    set_tests_properties(${NAME} PROPERTIES TIMEOUT 600)
  endif()
  if(TENON_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE tenon_${NAME})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
      foreach(embed ${ARG_EMBEDS})
        if(TARGET ${embed})
          target_link_libraries(${target} PRIVATE ${embed})
        endif()
      endforeach()
      set_property(GLOBAL APPEND PROPERTY TENON_FUZZERS ${target})
    endforeach()
  endif()
endfunction()

# tenon_version_header(TARGET...): lets the folder, its tests or a program include "version.h".
configure_file(${CMAKE_SOURCE_DIR}/cmake/version.h.in ${CMAKE_BINARY_DIR}/generated/version.h @ONLY)
function(tenon_version_header)
  foreach(target ${ARGN})
    if(TARGET ${target})
      get_target_property(type ${target} TYPE)
      if(NOT type STREQUAL "INTERFACE_LIBRARY")
        target_include_directories(${target} PRIVATE ${CMAKE_BINARY_DIR}/generated)
      endif()
    endif()
  endforeach()
endfunction()
