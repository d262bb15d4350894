# SPDX-License-Identifier: Apache-2.0
# One library per folder of src/. A folder's links are the layer table; scripts/check-layers compares
# the #include lines with the same declarations, so a forbidden include fails before it links.

find_package(Threads REQUIRED)
if(TENON_TESTS)
  find_package(GTest REQUIRED)
endif()

# tenon_folder(NAME [LINKS folder...] [LIBS library...])
#   src/NAME/*.cc         -> library tenon_NAME
#   src/NAME/*_main.cc    -> left to an explicit add_executable
#   src/NAME/*_test.cc    -> one test program NAME_test
#   src/NAME/*_fuzz.cc    -> one fuzz program each, with TENON_FUZZ
function(tenon_folder NAME)
  cmake_parse_arguments(ARG "" "" "LINKS;LIBS" ${ARGN})
  set(dir ${CMAKE_SOURCE_DIR}/src/${NAME})
  file(GLOB sources CONFIGURE_DEPENDS ${dir}/*.cc)
  set(tests ${sources})
  set(fuzzers ${sources})
  list(FILTER sources EXCLUDE REGEX "_(main|test|fuzz)\\.cc$")
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
    add_test(NAME ${NAME} COMMAND ${NAME}_test)
    set_tests_properties(${NAME} PROPERTIES TIMEOUT 300)
  endif()
  if(TENON_FUZZ)
    foreach(fuzzer ${fuzzers})
      get_filename_component(target ${fuzzer} NAME_WE)
      add_executable(${target} ${fuzzer})
      target_link_libraries(${target} PRIVATE tenon_${NAME})
      target_link_options(${target} PRIVATE -fsanitize=fuzzer)
    endforeach()
  endif()
endfunction()
