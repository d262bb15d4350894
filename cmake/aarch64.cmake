# SPDX-License-Identifier: Apache-2.0
# The runner for aarch64: this same source configured a second time, with the cross compiler and
# TENON_RUNNER_ONLY, in a build folder below ours. Its bytes travel inside `tenon`.

include(ExternalProject)

# tenon_find_aarch64(VARIABLE): what is missing for it, in words; empty when nothing is.
function(tenon_find_aarch64 VARIABLE)
  set(missing "")
  find_program(TENON_AARCH64_CXX aarch64-linux-gnu-g++)
  if(NOT TENON_AARCH64_CXX)
    list(APPEND missing g++-aarch64-linux-gnu)
  endif()
  find_program(TENON_ZSTD zstd)
  if(NOT TENON_ZSTD)
    list(APPEND missing zstd)
  endif()
  foreach(pair crypto=libssl-dev boost_json=libboost-json1.81-dev zstd=libzstd-dev)
    string(REPLACE "=" ";" pair ${pair})
    list(GET pair 0 library)
    list(GET pair 1 package)
    if(NOT EXISTS /usr/lib/aarch64-linux-gnu/lib${library}.a)
      list(APPEND missing ${package}:arm64)
    endif()
  endforeach()
  list(JOIN missing " " missing)
  set(${VARIABLE} "${missing}" PARENT_SCOPE)
endfunction()

# tenon_aarch64_runner(TARGET): TARGET carries the runner for aarch64 as well, where TENON_AARCH64 is
# on.
function(tenon_aarch64_runner TARGET)
  if(NOT TENON_AARCH64 OR TENON_SANITIZE OR TENON_FUZZ
     OR NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "x86_64")
    return()
  endif()
  tenon_find_aarch64(missing)
  if(missing)
    message(FATAL_ERROR "TENON_AARCH64 is ON, but these packages are not installed: ${missing}. "
                        "scripts/setup --aarch64 installs them.")
  endif()
  tenon_aarch64_build()
  tenon_embed_packed(tenon_embedded_aarch64 aarch64 ${CMAKE_BINARY_DIR}/aarch64/tenon-runner.stripped)
  target_link_libraries(${TARGET} PRIVATE tenon_embedded_aarch64)
endfunction()

function(tenon_aarch64_build)
  set(folder ${CMAKE_BINARY_DIR}/aarch64)
  ExternalProject_Add(
    tenon-runner-aarch64
    SOURCE_DIR ${CMAKE_SOURCE_DIR}
    PREFIX ${folder}/stamps
    BINARY_DIR ${folder}
    CMAKE_ARGS -DCMAKE_TOOLCHAIN_FILE=${CMAKE_SOURCE_DIR}/cmake/aarch64-toolchain.cmake
               -DCMAKE_BUILD_TYPE=${CMAKE_BUILD_TYPE}
               -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=${CMAKE_CXX_FLAGS_RELWITHDEBINFO}
               -DTENON_RUNNER_ONLY=ON -DTENON_TESTS=OFF
    BUILD_COMMAND ${CMAKE_COMMAND} --build ${folder} --target tenon-runner-stripped
    BUILD_BYPRODUCTS ${folder}/tenon-runner.stripped ${folder}/tenon-runner
    BUILD_ALWAYS ON
    INSTALL_COMMAND ""
    TEST_COMMAND ""
    EXCLUDE_FROM_ALL ON)
endfunction()
