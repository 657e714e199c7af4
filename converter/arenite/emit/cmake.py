"""The CMakeLists.txt of an artifact folder: both forms of the model as libraries, for any firmware or host program."""

from __future__ import annotations

from collections.abc import Sequence

from arenite.emit.own_files import FOLDER

_TEXT = """\
# {name}, converted by Arenite. Link one of
#   {name}              the compiled form: {name}.h
#   {name}_interpreted  the flat model with its resolver: {name}_model.h, arenite.h
# Several models can be added to one project; they share the runtime of the first.
cmake_minimum_required(VERSION 3.16)
project({name} C ASM)

if(NOT TARGET arenite_kernels)
  add_library(arenite_kernels STATIC
{kernels})
  target_include_directories(arenite_kernels PUBLIC
    ${{CMAKE_CURRENT_LIST_DIR}}/runtime_c/include ${{CMAKE_CURRENT_LIST_DIR}}/runtime_c/kernels)
  target_compile_features(arenite_kernels PUBLIC c_std_99)
  if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang")
    # Contraction would change float results; sections let the linker drop the kernels that a model does not use.
    target_compile_options(arenite_kernels PUBLIC -ffp-contract=off -ffunction-sections -fdata-sections)
    target_link_libraries(arenite_kernels PUBLIC m) # float kernels
  endif()

  add_library(arenite_runtime STATIC
{runtime})
  target_include_directories(arenite_runtime PRIVATE ${{CMAKE_CURRENT_LIST_DIR}}/runtime_c/src)
  target_link_libraries(arenite_runtime PUBLIC arenite_kernels)
endif()

{own}add_library({name} STATIC ${{CMAKE_CURRENT_LIST_DIR}}/{name}.c)
target_include_directories({name} PUBLIC ${{CMAKE_CURRENT_LIST_DIR}})
target_link_libraries({name} PUBLIC {own_library}arenite_kernels)

add_library({name}_interpreted STATIC ${{CMAKE_CURRENT_LIST_DIR}}/{name}_model.c)
target_include_directories({name}_interpreted PUBLIC ${{CMAKE_CURRENT_LIST_DIR}})
target_link_libraries({name}_interpreted PUBLIC {own_library}arenite_runtime)
"""

_OWN = """\
# The model's own operators.
add_library({name}_operators STATIC
{sources})
target_include_directories({name}_operators PUBLIC ${{CMAKE_CURRENT_LIST_DIR}}/{folder})
target_link_libraries({name}_operators PUBLIC arenite_kernels)

"""


def cmake_lists(name: str, sources: Sequence[str]) -> str:
    """`sources`: the runtime's C files, and those of the user's own operators, as paths below the folder ("runtime_c/src/…",
    "runtime_c/kernels/…", "operators/…")."""
    runtime = [source for source in sources if source.startswith("runtime_c/src/")]
    own = [source for source in sources if source.startswith(f"{FOLDER}/")]
    kernels = [source for source in sources if source not in (*runtime, *own)]
    return _TEXT.format(
        name=name,
        kernels=_list(kernels),
        runtime=_list(runtime),
        own=_OWN.format(name=name, sources=_list(own), folder=FOLDER) if own else "",
        own_library=f"{name}_operators " if own else "",
    )


def _list(sources: Sequence[str]) -> str:
    return "\n".join(f"    ${{CMAKE_CURRENT_LIST_DIR}}/{source}" for source in sources)
