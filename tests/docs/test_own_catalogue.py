"""The YAML of docs/howto/your_own_catalogue.md works as printed."""

import re
from pathlib import Path

from ridgeline.study.resolve import open_catalog, resolve_cluster, resolve_model

PAGE = Path(__file__).parents[2] / "docs/howto/your_own_catalogue.md"


def test_entries_of_the_page_load(tmp_path):
    blocks = re.findall(r"`(\w+/[\w-]+\.yaml)`.*?```yaml\n(.*?)```", PAGE.read_text(), re.DOTALL)
    assert len(blocks) == 3
    for name, text in blocks:
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    catalog = open_catalog(tmp_path)
    cluster = resolve_cluster("my-box", catalog=catalog)
    assert (cluster.num_devices, cluster.usd_per_device_hour) == (16, 1.2)
    assert resolve_model("my-model", catalog).num_layers == 16
