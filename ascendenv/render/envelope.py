"""Results as JSON, in a versioned envelope."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from ascendenv.resolve.model import Conflict, Plan
from ascendenv.result import Result


def to_json(result: Result[BaseModel | None]) -> str:
    """``{"schema", "ok", "exit_code", "result", "messages"}``."""
    envelope: dict[str, Any] = {
        "schema": result.schema,
        "ok": result.ok,
        "exit_code": int(result.exit_code),
        "result": _result(result.payload),
        "messages": [
            {"level": m.level, "code": m.code, "text": m.text, "hint": m.hint} for m in result.messages
        ],
    }
    return json.dumps(envelope, indent=2, ensure_ascii=False)


def _result(payload: BaseModel | None) -> dict[str, Any] | None:
    """A plan and a conflict under their names, so that a program can tell one from the other."""
    if payload is None:
        return None
    fields = payload.model_dump(mode="json")
    match payload:
        case Plan():
            return {"plan": fields}
        case Conflict():
            return {"conflict": fields}
        case _:
            return fields
