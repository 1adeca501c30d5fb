# SPDX-License-Identifier: MIT
import implementations
import pytest
import qkvec


@pytest.mark.parametrize("case", qkvec.cases("mask", scope="core"), ids=str)
def test_attention(case):
    case.judge(*implementations.core(**case.inputs))
