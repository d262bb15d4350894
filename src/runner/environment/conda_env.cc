// SPDX-License-Identifier: Apache-2.0
#include "runner/environment/conda_env.h"

namespace tenon::runner {

// The script prints the same messages as uv ("Resolved 3 packages", "Downloading x (1.0MiB)"), so
// that one parser of progress reads both.
std::string_view CondaScript() {
  return R"PY(# SPDX-License-Identifier: Apache-2.0
import asyncio
import inspect
import json
import os
import sys

import rattler

NO_CHANNEL, UNSOLVABLE, FAILED = 75, 65, 1
NETWORK = ("error sending request", "dns error", "client error (connect)", "timed out",
           "connection refused", "connection reset", "tunnel", "proxy", "unreachable",
           "error trying to connect")


def say(text):
    print(text, flush=True)


def leave(code):
    """At once: threads of py-rattler may otherwise abort an interpreter that is shutting down."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def is_network(error):
    text = str(error).lower()
    return any(words in text for words in NETWORK)


def accepted(function, **options):
    """The options this release of py-rattler knows."""
    known = inspect.signature(function).parameters
    return {name: value for name, value in options.items() if name in known}


def configuration():
    # Copies: a hard link into the cache would let a script damage every later environment.
    try:
        return rattler.Config.from_toml('allow-hard-links = false\ntls-root-certs = "system"\n')
    except Exception:
        return None


def make_gateway(cache):
    config = configuration()
    if config is not None and hasattr(rattler.Gateway, "from_config"):
        client = rattler.Client.from_config(config, max_retries=1)
        return rattler.Gateway.from_config(config, cache_dir=cache, client=client)
    return rattler.Gateway(cache_dir=cache)


class Reporter(getattr(rattler, "InstallerReporter", object)):
    """Tells which packages are fetched; the sizes are known from the channel."""

    def __init__(self, sizes):
        self.sizes = sizes
        self.names = []

    def on_populate_cache_start(self, operation, package_name):
        self.names.append(package_name)
        return len(self.names) - 1

    def on_download_start(self, cache_entry):
        name = self.names[cache_entry]
        say("Downloading %s (%dB)" % (name, self.sizes.get(name, 0)))
        return cache_entry

    def on_download_completed(self, download_idx):
        say(" Downloaded %s" % self.names[download_idx])


def channel_address(name):
    return name if "://" in name else "https://conda.anaconda.org/" + name


async def reachable(gateway, channel, platforms):
    try:
        await gateway.query([channel], platforms, ["python"], recursive=False)
    except Exception as error:
        return not is_network(error)
    return True


async def solve(order, gateway, platforms):
    channels = [channel_address(name) for name in order["channels"]]
    options = accepted(rattler.solve, gateway=gateway, platforms=platforms,
                       virtual_packages=rattler.VirtualPackage.detect())
    sources = "sources" if "sources" in inspect.signature(rattler.solve).parameters else "channels"
    options[sources] = channels
    try:
        return await rattler.solve(specs=order["specs"], **options)
    except Exception as error:
        say(str(error))
        if not is_network(error):
            leave(UNSOLVABLE)
        answers = [await reachable(gateway, channel, platforms) for channel in channels]
        for channel, answer in zip(channels, answers):
            if not answer:
                say("channel %s could not be reached" % channel)
        leave(FAILED if any(answers) else NO_CHANNEL)


async def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        order = json.load(file)
    cache = order["cache"]
    os.makedirs(cache, exist_ok=True)
    platform = rattler.Subdir.current() if hasattr(rattler, "Subdir") else rattler.Platform.current()
    platforms = [platform, type(platform)("noarch")]
    gateway = make_gateway(os.path.join(cache, "repodata"))
    records = await solve(order, gateway, platforms)
    say("Resolved %d packages" % len(records))
    sizes = {record.name.normalized: record.size or 0 for record in records}
    options = accepted(rattler.install, cache_dir=os.path.join(cache, "pkgs"), show_progress=False,
                       execute_link_scripts=True, reporter=Reporter(sizes), config=configuration())
    if order["alternative_prefix"] != order["prefix"]:
        options["alternative_target_prefix"] = order["alternative_prefix"]
        options["execute_link_scripts"] = False
    try:
        await rattler.install(records, order["prefix"], **options)
    except Exception as error:
        say(str(error))
        leave(FAILED)
    say("Installed %d packages" % len(records))
    for record in sorted(records, key=lambda record: record.name.normalized):
        say(" + %s==%s" % (record.name.normalized, record.version))
    leave(0)


asyncio.run(main())
)PY";
}

}  // namespace tenon::runner
