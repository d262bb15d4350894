# SPDX-License-Identifier: Apache-2.0
# The programs. `tenon-runner` is declared in src/CMakeLists.txt between the far and the near
# folders, because tests of near folders link its bytes.

# tenon_runner_program(): static, so that it runs on any Linux of the architecture. A sanitizer's
# run time can't be linked statically; there the runner is an ordinary program.
function(tenon_runner_program)
  add_executable(tenon-runner ${CMAKE_SOURCE_DIR}/src/runner/runner_main.cc)
  target_link_libraries(tenon-runner PRIVATE tenon_runner tenon_embedded_shim)
  tenon_version_header(tenon-runner)
  set_target_properties(tenon-runner PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  if(NOT TENON_SANITIZE)
    target_link_options(tenon-runner PRIVATE -static -no-pie -Wl,--fatal-warnings
                        -Wl,-Map=${CMAKE_BINARY_DIR}/tenon-runner.map -Wl,--cref)
  endif()
  tenon_stripped(tenon-runner)
  if(NOT TENON_RUNNER_ONLY)
    tenon_embed_program(tenon_embedded_runner ${CMAKE_BINARY_DIR}/tenon-runner.stripped)
  endif()
endfunction()

# tenon_stripped(PROGRAM): PROGRAM.stripped beside it, by the target PROGRAM-stripped.
function(tenon_stripped PROGRAM)
  set(stripped ${CMAKE_BINARY_DIR}/${PROGRAM}.stripped)
  add_custom_command(
    OUTPUT ${stripped}
    COMMAND ${CMAKE_STRIP} --strip-all -o ${stripped} $<TARGET_FILE:${PROGRAM}>
    DEPENDS ${PROGRAM}
    COMMENT "Stripping ${PROGRAM}"
    VERBATIM)
  add_custom_target(${PROGRAM}-stripped DEPENDS ${stripped})
endfunction()

# tenon_portable_program(TARGET): needs nothing but glibc 2.34 or later at run time.
function(tenon_portable_program TARGET)
  set_target_properties(${TARGET} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR})
  if(NOT TENON_SANITIZE)
    target_sources(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/src/base/glibc_compat.cc)
    target_link_options(${TARGET} PRIVATE -static-libstdc++ -static-libgcc)
  endif()
endfunction()

# A program with `tenon`'s link options that throws and catches; tests/checks runs it.
function(tenon_exceptions_probe)
  add_executable(exceptions_probe ${CMAKE_SOURCE_DIR}/tests/checks/exceptions_main.cc)
  target_link_libraries(exceptions_probe PRIVATE Threads::Threads)
  tenon_portable_program(exceptions_probe)
endfunction()
