"""Names of networks, made from what they have."""

from __future__ import annotations

import re

import pytest

from cambrian.study import naming
from cambrian.study.model import Network


@pytest.mark.parametrize("template", ["", "{trace_file}-tail"])
def test_a_trace_file_without_latin_letters_gives_a_name_of_its_own(template: str) -> None:
    def name(file: str) -> str:
        network = Network(trace_file=file, rtt_ms=50, buffer_bdp=1)
        return naming.templated_name(template, network) if template else naming.generated_name(network)

    one, other = name("日本.trace"), name("中国.trace")
    assert one != other
    assert re.match("trace-[0-9a-f]{6}-(50ms-1bdp|tail)", one)
    assert naming.NAME_PATTERN.fullmatch(other)
    assert name("traces/My Link.trace").startswith("my-link-")
