"""A profile as a JSON object. docs/cli.md promises the keys."""

from __future__ import annotations

from typing import Any

from arenite.profile.contents import Profile, per_mac, share


def to_json(profile: Profile) -> dict[str, Any]:
    """Plain dicts, lists, strings, numbers and None, which stands for what is not known; sizes in bytes."""
    build = profile.build
    return {
        "model": profile.model,
        "target": profile.target,
        "form": profile.form,
        "input": profile.input,
        "instructions": profile.total.instructions,
        "cycles": profile.total.cycles,
        "macs": profile.macs,
        "instructions_resolution": build and build.resolution,
        "open_instructions": build and build.open_instructions,
        "stack_bytes": build and build.stack_bytes,
        "arena_bytes": build and build.arena_bytes,
        "session_bytes": build and build.session_bytes,
        "flash": {"model_bytes": build and build.model_bytes, "code_bytes": build and build.code_bytes},
        "layers": [
            {
                "name": layer.name,
                "op": layer.op,
                "form": layer.form,
                "variant": layer.variant,
                "macs": layer.macs,
                "executions": layer.executions,
                "instructions": layer.cost.instructions,
                "cycles": layer.cost.cycles,
                "per_mac": per_mac(layer, profile.in_cycles),
                "share": share(profile, layer.cost),
                "code_bytes": layer.code_bytes,
            }
            for layer in profile.layers
        ],
        "rest": {"instructions": profile.rest.instructions, "cycles": profile.rest.cycles, "share": share(profile, profile.rest)},
        "functions": [
            {
                "name": function.name,
                "instructions": function.cost.instructions,
                "cycles": function.cost.cycles,
                "code_bytes": function.code_bytes,
            }
            for function in profile.functions
        ],
        "toolchain": build and build.toolchain,
        "emulator": build and build.emulator,
        "optimize": build and build.optimize,
        "notes": list(profile.notes),
    }
