"""A real SLURM of one node in a private directory: its own configuration, ports, munge socket, key and state."""

import os
import secrets
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PACKAGES = ["slurmctld", "slurmd", "slurm-client", "munge"]  # Debian's names; tried with SLURM 22.05 on Debian 12
PROGRAMS = ["slurmctld", "slurmd", "munged", "sbatch", "squeue", "scancel", "srun"]
DAEMONS = ["munged", "slurmctld", "slurmd"]  # in the order in which they are started
# Files that a SLURM or munge other than the private one has.
FOREIGN_FILES = ["/etc/slurm/slurm.conf", "/etc/slurm-llnl/slurm.conf", "/run/munge/munge.socket.2"]
MAX_WAIT = 1200  # seconds; a hopeless wait ends earlier
# A command with this prefix gets SIGTERM as soon as its parent ends, even if the parent is killed.
BOUND_TO_PARENT = ("setpriv", "--pdeathsig", "TERM")

SLURM_CONF_TEMPLATE = """\
ClusterName=private
SlurmctldHost={host}(127.0.0.1)
SlurmctldPort={controller_port}
SlurmdPort={node_port}
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
AuthInfo=socket={folder}/munge.socket
CredType=cred/munge
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
# These files are not used: start_daemon writes <daemon>.pid.
SlurmctldPidFile={folder}/slurmctld.own.pid
SlurmdPidFile={folder}/slurmd.own.pid
SlurmctldLogFile={folder}/slurmctld.log
SlurmdLogFile={folder}/slurmd.log
# No cgroups, accounting database or mail: a container has none of them.
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
MailProg=/bin/true
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
SchedulerParameters=sched_interval=2,bf_interval=5,batch_sched_delay=0,sched_min_interval=0
ReturnToService=2
SlurmctldTimeout=30
SlurmdTimeout=300
NodeName={host} NodeAddr=127.0.0.1 CPUs={cpus} RealMemory={memory} State=UNKNOWN
PartitionName=main Nodes={host} Default=YES MaxTime=INFINITE State=UP
"""

# This wrapper of srun sets SLURM_CONF, because Snakemake's SLURM plugin starts job steps without it.
SRUN_TEMPLATE = """\
#!/bin/sh
SLURM_CONF={folder}/slurm.conf exec {srun} "$@"
"""


class NotRun(Exception):
    """No SLURM can be started here; the message says why."""


def check_alone():
    """Raise NotRun if a SLURM or munge is configured or running here: this machine may be part of a cluster.

    Packages that are merely installed do not matter: Debian's contain /etc/munge/munge.key but no slurm.conf, and their
    services do not start in a container.
    """
    if os.environ.get("SLURM_CONF"):
        raise NotRun(f"SLURM_CONF is set ({os.environ['SLURM_CONF']}): a SLURM is configured here")
    for path in FOREIGN_FILES:
        if os.path.exists(path):
            raise NotRun(f"{path} exists: a SLURM or munge that this test did not start is configured or running here")
    for comm in Path("/proc").glob("[0-9]*/comm"):
        try:
            command_line = (comm.parent / "cmdline").read_bytes()  # empty if the process is a zombie
            name = comm.read_text().strip() if command_line else ""
        except OSError:  # the process has just ended
            continue
        if name in (*DAEMONS, "slurmdbd"):
            raise NotRun(f"{name} is running (process {comm.parent.name}), and this test did not start it")


def check_possible():
    """Raise NotRun unless a SLURM can be started here. Installs Debian's packages if programs are missing."""
    if sys.platform != "linux" or os.geteuid() != 0:
        raise NotRun("a SLURM that runs jobs can only be started by root on Linux")
    check_alone()
    if all(map(shutil.which, PROGRAMS)):
        return
    install()
    check_alone()
    missing = [program for program in PROGRAMS if not shutil.which(program)]
    if missing:
        raise NotRun(f"{', '.join(missing)} missing, though the packages {', '.join(PACKAGES)} are installed")


def install():
    """Install SLURM and munge with apt-get, without starting their services."""
    if not shutil.which("apt-get"):
        raise NotRun(f"{', '.join(PROGRAMS)} are needed and there is no apt-get to install them with")
    print(f"Installing {', '.join(PACKAGES)} with apt-get", flush=True)
    policy = Path("/usr/sbin/policy-rc.d")  # packages run it before they start a service; exit code 101 forbids that
    policy_is_ours = not policy.exists()
    if policy_is_ours:
        policy.write_text("#!/bin/sh\nexit 101\n")
        policy.chmod(0o755)
    try:
        for command in (["update"], ["install", "--yes", "--no-install-recommends", *PACKAGES]):
            process = subprocess.run(
                ["apt-get", "--quiet", *command],
                env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            if process.returncode != 0:
                last_lines = "\n".join(process.stdout.splitlines()[-5:])
                raise NotRun(f"apt-get {command[0]} failed, so SLURM cannot be installed:\n{last_lines}")
    finally:
        if policy_is_ours:
            policy.unlink()


def free_ports(count):
    """``count`` ports on which nothing listens, chosen by the system."""
    sockets = [socket.socket() for _ in range(count)]
    try:
        for free_socket in sockets:
            free_socket.bind(("127.0.0.1", 0))
        return [free_socket.getsockname()[1] for free_socket in sockets]
    finally:
        for free_socket in sockets:
            free_socket.close()


def wait_until(condition, failure, hopeless=lambda: False):
    """Wait until ``condition`` holds. Raise TimeoutError(failure) if ``hopeless`` holds first, or the wait is too long."""
    deadline = time.monotonic() + MAX_WAIT
    while not condition():
        if hopeless() or time.monotonic() > deadline:
            raise TimeoutError(failure)
        time.sleep(0.2)


class Cluster:
    """A SLURM in a separate folder. Only the processes whose ids are in <daemon>.pid in that folder are ever stopped.

    With ``bound``, the daemons end as soon as this Python process ends, for whatever reason.
    """

    def __init__(self, folder, bound=False):
        self.folder = Path(folder).resolve()
        self.prefix = BOUND_TO_PARENT if bound else ()
        self.children = {}  # the daemons that this Python process started
        path = os.pathsep.join([str(self.folder / "bin"), os.environ["PATH"]])
        self.environment = {**os.environ, "SLURM_CONF": str(self.folder / "slurm.conf"), "PATH": path}

    def start(self):
        """Write the configuration, start munge, controller and node, and wait until the node is ready."""
        check_possible()
        self._write_files()
        for daemon in DAEMONS:
            self.start_daemon(daemon)
        wait_until(lambda: "idle" in self.ask("sinfo", "--noheader", "--format", "%t"), "the node was not ready")

    def stop(self):
        """Cancel all jobs, and stop node, controller and munge."""
        self.cancel_all()
        for daemon in reversed(DAEMONS):
            self.stop_daemon(daemon)

    def cancel_all(self):
        """Cancel all jobs and wait until they have ended, if the controller is running."""
        if self._running_pid("slurmctld"):
            self.ask("scancel", "--user=root")
            wait_until(lambda: not self.jobs(), "the jobs did not end")

    def start_daemon(self, daemon):
        """Start one daemon in a new session, write its process id to <daemon>.pid, and wait until it is up."""
        configuration = str(self.folder / "slurm.conf")
        arguments = {
            "munged": [
                *("--foreground", "--force", f"--key-file={self.folder}/munge.key", f"--socket={self.folder}/munge.socket"),
                *(f"--pid-file={self.folder}/munged.own.pid", f"--seed-file={self.folder}/munge.seed"),
                f"--log-file={self.folder}/munged.log",
            ],
            "slurmctld": ["-D", "-f", configuration],
            "slurmd": ["-D", "-f", configuration],
        }
        with open(self.folder / f"{daemon}.out", "ab") as log:
            process = subprocess.Popen(
                [*self.prefix, shutil.which(daemon), *arguments[daemon]],
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self.children[daemon] = process
        (self.folder / f"{daemon}.pid").write_text(str(process.pid))
        is_up = {
            "munged": lambda: (self.folder / "munge.socket").exists(),
            "slurmctld": lambda: self.run("scontrol", "ping"),
            "slurmd": lambda: process.poll() is None,
        }
        try:
            wait_until(is_up[daemon], f"{daemon} did not come up", lambda: process.poll() is not None)
        except TimeoutError as error:
            raise RuntimeError(f"{error}:\n{Path(log.name).read_text(errors='replace')}") from None

    def stop_daemon(self, daemon, signal_number=signal.SIGTERM):
        """Send a signal to the daemon if it is running, and wait until it has ended."""
        if pid := self._running_pid(daemon):
            os.kill(pid, signal_number)
        if daemon in self.children:
            self.children.pop(daemon).wait(MAX_WAIT)
        wait_until(lambda: not self._running_pid(daemon), f"{daemon} did not end")
        (self.folder / f"{daemon}.pid").unlink(missing_ok=True)

    def run(self, *command):
        """Run one of SLURM's commands. Returns what it prints, or None if it fails."""
        process = subprocess.run(command, env=self.environment, capture_output=True, text=True)
        return process.stdout if process.returncode == 0 else None

    def ask(self, *command):
        """Repeat one of SLURM's commands while the controller is too busy to answer. Returns what the command prints."""
        answer = None

        def has_answered():
            nonlocal answer
            answer = self.run(*command)
            return answer is not None

        failure = f"the controller did not answer {' '.join(command)}"
        wait_until(has_answered, failure, hopeless=lambda: not self._running_pid("slurmctld"))
        return answer

    def jobs(self, *states):
        """Ids of the jobs in the given states; without states, ids of all jobs that have not ended."""
        return self.ask("squeue", "--noheader", "--format=%i", *([f"--states={','.join(states)}"] if states else [])).split()

    def _write_files(self):
        for name in ("state", "spool", "bin"):
            (self.folder / name).mkdir(parents=True)
        self.folder.chmod(0o755)  # munge requires that every user can reach its socket
        srun = self.folder / "bin" / "srun"
        srun.write_text(SRUN_TEMPLATE.format(folder=self.folder, srun=shutil.which("srun")))
        srun.chmod(0o755)
        key = self.folder / "munge.key"
        key.touch(mode=0o600)
        key.write_bytes(secrets.token_bytes(1024))
        controller_port, node_port = free_ports(2)
        memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2**20
        (self.folder / "slurm.conf").write_text(
            SLURM_CONF_TEMPLATE.format(
                folder=self.folder,
                host=socket.gethostname().split(".")[0],
                controller_port=controller_port,
                node_port=node_port,
                cpus=os.cpu_count(),
                memory=memory - 512,  # MB for the rest of the machine
            )
        )

    def _running_pid(self, daemon):
        """The process id of a daemon, or None if it has ended.

        The id may by now belong to another process. Only the daemon's command line names this folder.
        """
        try:
            pid = int((self.folder / f"{daemon}.pid").read_text())
            return pid if str(self.folder).encode() in Path(f"/proc/{pid}/cmdline").read_bytes() else None
        except OSError:
            return None
