"""As much of JSON Schema (draft 2020-12) as the schemas of reports use. Any other keyword is an error."""

import json
import re

SAID = {"$schema", "$defs", "title", "description"}
TYPES = {"object": dict, "array": list, "string": str, "boolean": bool}


def is_type(value, name):
    if isinstance(name, list):
        return any(is_type(value, one) for one in name)
    if name == "null":
        return value is None
    if name in ("integer", "number"):
        return isinstance(value, int if name == "integer" else (int, float)) and not isinstance(value, bool)
    return isinstance(value, TYPES[name])


def faults(value, schema, root, at="$"):
    """What is wrong with a value, each with its place."""
    found = []
    for keyword, said in schema.items():
        if keyword in SAID:
            continue
        if keyword == "$ref":
            found += faults(value, root["$defs"][said.removeprefix("#/$defs/")], root, at)
        elif keyword == "type":
            if not is_type(value, said):
                found.append(f"{at}: {json.dumps(value)[:60]} is no {said}")
        elif keyword == "const":
            if value != said or type(value) is not type(said):
                found.append(f"{at}: {json.dumps(value)[:60]} is not {said!r}")
        elif keyword == "enum":
            if value not in said:
                found.append(f"{at}: {json.dumps(value)[:60]} is none of {said}")
        elif keyword == "minimum":
            if is_type(value, "number") and value < said:
                found.append(f"{at}: {value} is less than {said}")
        elif keyword == "maximum":
            if is_type(value, "number") and value > said:
                found.append(f"{at}: {value} is more than {said}")
        elif keyword == "pattern":
            if isinstance(value, str) and not re.search(said, value):
                found.append(f"{at}: {value!r} does not look like {said}")
        elif keyword == "required":
            if isinstance(value, dict):
                found += [f"{at}: {name} is missing" for name in said if name not in value]
        elif keyword == "dependentRequired":
            if isinstance(value, dict):
                found += [f"{at}: {name} without {other}" for name, others in said.items() if name in value
                          for other in others if other not in value]
        elif keyword == "properties":
            if isinstance(value, dict):
                for name in said.keys() & value.keys():
                    found += faults(value[name], said[name], root, f"{at}.{name}")
        elif keyword == "additionalProperties":
            if isinstance(value, dict):
                for name in value.keys() - schema.get("properties", {}).keys():
                    found += [f"{at}: there is no {name}"] if said is False else faults(value[name], said, root, f"{at}.{name}")
        elif keyword == "items":
            if isinstance(value, list):
                for i, one in enumerate(value):
                    found += faults(one, said, root, f"{at}[{i}]")
        elif keyword == "uniqueItems":
            if isinstance(value, list) and len({json.dumps(one) for one in value}) != len(value):
                found.append(f"{at}: something is there twice")
        elif keyword == "oneOf":
            told = [faults(value, one, root, at) for one in said]
            fitting = sum(not one for one in told)
            if fitting > 1:
                found.append(f"{at}: {fitting} of the forms fit, not one")
            elif fitting == 0:
                found += min(told, key=len)
        else:
            raise ValueError(f"{at}: this reader of schemas does not know {keyword}")
    return found


def places(value, at=()):
    """Paths to all objects inside a value."""
    if isinstance(value, dict):
        yield at
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else []
    for key, one in members:
        yield from places(one, (*at, key))
