"""Results as JSON, in a versioned envelope."""

from __future__ import annotations

import json
from typing import Any

from pydantic import BaseModel

from ascendenv.result import Result


def to_json(result: Result[BaseModel | None]) -> str:
    """``{"schema", "ok", "exit_code", "result", "messages"}``."""
    payload = result.payload
    envelope: dict[str, Any] = {
        "schema": result.schema,
        "ok": result.ok,
        "exit_code": int(result.exit_code),
        "result": None if payload is None else payload.model_dump(mode="json"),
        "messages": [
            {"level": m.level, "code": m.code, "text": m.text, "hint": m.hint} for m in result.messages
        ],
    }
    return json.dumps(envelope, indent=2, ensure_ascii=False)
