"""The emulation says why it cannot run, and the emulated Python gets its arguments unchanged."""

import os
import subprocess
import sys

import emulation
import pytest


@pytest.fixture
def pretend_to_be(monkeypatch):
    """A function that makes this machine look like a different one."""

    def pretend(architecture, system="linux", programs=("apt-get", "dpkg-deb")):
        monkeypatch.setattr(emulation.platform, "machine", lambda: architecture)
        monkeypatch.setattr(emulation.sys, "platform", system)
        monkeypatch.setattr(emulation.shutil, "which", lambda program: program if program in programs else None)

    return pretend


def test_debian_on_x86_64_can_emulate(pretend_to_be):
    pretend_to_be("x86_64")
    emulation.check_possible()


@pytest.mark.parametrize(
    ("machine", "reason"),
    [
        ({"architecture": "aarch64"}, "is itself aarch64"),
        ({"architecture": "x86_64", "system": "darwin"}, "this is darwin on x86_64"),
        ({"architecture": "x86_64", "programs": ["dpkg-deb"]}, "^apt-get missing"),
    ],
)
def test_the_reason_is_given_if_a_machine_cannot_or_need_not_emulate(pretend_to_be, machine, reason):
    pretend_to_be(**machine)
    with pytest.raises(emulation.NotRun, match=reason):
        emulation.set_up_python()


def test_a_failed_set_up_shows_its_last_lines_and_is_tried_again(pretend_to_be, monkeypatch, tmp_path):
    pretend_to_be("x86_64")
    monkeypatch.setattr(emulation, "FOLDER", tmp_path / "arm64")
    monkeypatch.setattr(emulation, "_download", lambda *_: emulation._run(sys.executable, "-c", "exit('no such mirror')"))
    for _ in range(2):  # the second call sets up again, and fails in the same way
        with pytest.raises(emulation.NotRun, match="failed, so aarch64 cannot be emulated:\nno such mirror"):
            emulation.set_up_python()


def test_a_link_to_the_wrapper_finds_the_folder_and_passes_arguments_on(tmp_path):
    folder = tmp_path / "a folder"
    (folder / "bin").mkdir(parents=True)
    wrapper, qemu = folder / "bin" / "python", folder / "bin" / "qemu"
    wrapper.write_text(emulation.WRAPPER.format(name="python3.11"))
    qemu.write_text('#!/bin/sh\nprintf "%s\\n" "$NUMBA_CACHE_DIR" "$@"\n')
    for program in (wrapper, qemu):
        program.chmod(0o755)
    (tmp_path / "python").symlink_to(wrapper)
    arguments = ["-P", "-c", "print('two words')", ""]
    variables = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    process = subprocess.run([tmp_path / "python", *arguments], env=variables, capture_output=True, text=True, check=True)
    assert process.stdout.splitlines() == [
        *(f"{folder}/numba", "-L", f"{folder}/root", f"{folder}/root/usr/bin/python3.11"),
        *arguments,
    ]
