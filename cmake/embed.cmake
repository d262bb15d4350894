# SPDX-License-Identifier: Apache-2.0
# Bytes that travel inside programs: the Python shim in the runner, the runner and the samples in
# `tenon`. The first two are object libraries, so they may stand anywhere on a link line; the samples
# are a source of the library that reads them.

find_package(Python3 REQUIRED COMPONENTS Interpreter)
set(TENON_EMBED ${CMAKE_SOURCE_DIR}/scripts/embed)

# tenon_embed_folder(TARGET FOLDER): every file of FOLDER as runner/supervise/embedded_shim.h declares it.
function(tenon_embed_folder TARGET FOLDER)
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${FOLDER}/*)
  list(FILTER files EXCLUDE REGEX "/__pycache__/|\\.pyc$|/\\.[^/]*")
  set(output ${CMAKE_BINARY_DIR}/generated/${TARGET}.cc)
  # The list goes through a file of its own: a removed or added file must make the output again.
  list(JOIN files "\n" lines)
  file(GENERATE OUTPUT ${output}.list CONTENT "${lines}\n")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${TENON_EMBED} folder ${FOLDER} ${output}.list ${output}
    DEPENDS ${TENON_EMBED} ${output}.list ${files}
    COMMENT "Embedding ${FOLDER}"
    VERBATIM)
  add_library(${TARGET} OBJECT ${output})
  target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/src)
endfunction()

# tenon_embed_samples(TARGET FOLDER): every file of FOLDER that is part of the source, hidden ones
# included, as cli/projects/embedded_samples.h declares it; compiled into TARGET.
function(tenon_embed_samples TARGET FOLDER)
  file(GLOB_RECURSE files RELATIVE ${FOLDER} CONFIGURE_DEPENDS ${FOLDER}/*)
  list(FILTER files EXCLUDE REGEX
       "(^|/)(outputs|__pycache__|azureml-logs|\\.pytest_cache|\\.mypy_cache|\\.ipynb_checkpoints)/")
  list(TRANSFORM files PREPEND ${FOLDER}/)
  set(output ${CMAKE_BINARY_DIR}/generated/tenon_embedded_samples.cc)
  list(JOIN files "\n" lines)
  file(GENERATE OUTPUT ${output}.list CONTENT "${lines}\n")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${TENON_EMBED} samples ${FOLDER} ${output}.list ${output}
    DEPENDS ${TENON_EMBED} ${output}.list ${files}
    COMMENT "Embedding ${FOLDER}"
    VERBATIM)
  target_sources(${TARGET} PRIVATE ${output})
endfunction()

# tenon_embed_program(TARGET FILE): the bytes of this machine's runner as launch/embedded_runner.h
# declares them.
function(tenon_embed_program TARGET FILE)
  tenon_embed_bytes(${TARGET} ${FILE} program ${FILE})
endfunction()

# tenon_embed_packed(TARGET MACHINE FILE): those of another machine's runner, compressed.
function(tenon_embed_packed TARGET MACHINE FILE)
  tenon_embed_bytes(${TARGET} ${FILE} packed ${MACHINE} ${FILE})
endfunction()

function(tenon_embed_bytes TARGET FILE)
  set(output ${CMAKE_BINARY_DIR}/generated/${TARGET}.cc)
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${Python3_EXECUTABLE} ${TENON_EMBED} ${ARGN} ${output}
    DEPENDS ${FILE} ${TENON_EMBED}
    COMMENT "Embedding ${FILE}"
    VERBATIM)
  add_library(${TARGET} OBJECT ${output})
  set_source_files_properties(${output} PROPERTIES OBJECT_DEPENDS ${FILE})
  target_include_directories(${TARGET} PRIVATE ${CMAKE_SOURCE_DIR}/src)
endfunction()
