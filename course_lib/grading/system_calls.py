"""Writes the filter of system calls for a learner's kernel, in the form that the Linux kernel reads (BPF).

Bubblewrap hides files, processes and the network. This filter refuses what could get around it: other processes'
memory, new namespaces, parts of the Linux kernel that no exercise needs, memory that no limit counts, and other
submissions' cores.
"""

import errno
import struct

# By name: its numbers on x86_64 and on aarch64.
REFUSED = {
    **{"ptrace": (101, 117), "process_vm_readv": (310, 270), "process_vm_writev": (311, 271), "kcmp": (312, 272)},
    **{"pidfd_getfd": (438, 438), "perf_event_open": (298, 241), "userfaultfd": (323, 282)},
    **{"mount": (165, 40), "umount2": (166, 39), "pivot_root": (155, 41), "chroot": (161, 51)},
    **{"open_tree": (428, 428), "move_mount": (429, 429), "fsopen": (430, 430), "fsmount": (432, 432)},
    **{"mount_setattr": (442, 442), "unshare": (272, 97), "setns": (308, 268), "open_by_handle_at": (304, 265)},
    **{"sched_setaffinity": (203, 122), "bpf": (321, 280), "io_uring_setup": (425, 425), "syslog": (103, 116)},
    **{"keyctl": (250, 219), "add_key": (248, 217), "request_key": (249, 218)},
    **{"init_module": (175, 105), "finit_module": (313, 273), "kexec_load": (246, 104), "kexec_file_load": (320, 294)},
    # These give memory that belongs to no process and no folder.
    **{"memfd_create": (319, 279), "memfd_secret": (447, 447), "shmget": (29, 194), "msgget": (68, 186)},
    **{"semget": (64, 190), "io_setup": (206, 0)},
}
CLONE, CLONE3, MMAP, SOCKET = (56, 220), (435, 435), (9, 222), (41, 198)
NEW_NAMESPACES = 0x7E020000  # the flags CLONE_NEWCGROUP ... CLONE_NEWNET
SHARED_AND_IN_NO_FILE = 0x21  # MAP_SHARED | MAP_ANONYMOUS
FAMILIES = (1, 2, 10, 16)  # of sockets: local, IPv4, IPv6, and netlink, which the resolver needs
MACHINES = {
    "x86_64": (0, 0xC000003E),
    "aarch64": (1, 0xC00000B7),
}  # the column above, and the kernel's number for the machine
OTHER_NUMBERS = 0x40000000  # on x86_64, the same calls by another convention

LOAD, EQUAL, AT_LEAST, ANY_BIT, AND, RETURN = 0x20, 0x15, 0x35, 0x45, 0x54, 0x06
NUMBER, MACHINE = 0, 4  # their offsets in the call's data
LINE = 8  # bytes


def _line(code: int, value: int, if_so: int = 0, if_not: int = 0) -> bytes:
    return struct.pack("=HBBI", code, if_so, if_not, value)


def _when(test: int, value: int, *then: bytes) -> list[bytes]:
    return [_line(test, value, 0, len(then)), *then]


def _argument(place: int) -> bytes:
    return _line(LOAD, 16 + 8 * place)


ALLOW = _line(RETURN, 0x7FFF0000)
REFUSE = _line(RETURN, 0x00050000 | errno.EPERM)
UNKNOWN = _line(RETURN, 0x00050000 | errno.ENOSYS)


def program(machine: str) -> bytes:
    """Returns the filter for a machine, as `platform.machine` names it. Raises KeyError except for x86_64, aarch64."""
    column, called = MACHINES[machine]
    lines = [_line(LOAD, MACHINE), _line(EQUAL, called, if_so=1), REFUSE, _line(LOAD, NUMBER)]
    lines += _when(AT_LEAST, OTHER_NUMBERS, REFUSE)
    for numbers in REFUSED.values():
        lines += _when(EQUAL, numbers[column], REFUSE)
    # The flags of clone3 can't be read here. The C library then uses clone, whose flags can.
    lines += _when(EQUAL, CLONE3[column], UNKNOWN)
    lines += _when(EQUAL, CLONE[column], _argument(0), *_when(ANY_BIT, NEW_NAMESPACES, REFUSE), ALLOW)
    both = SHARED_AND_IN_NO_FILE
    lines += _when(EQUAL, MMAP[column], _argument(3), _line(AND, both), *_when(EQUAL, both, REFUSE), ALLOW)
    known = [line for family in FAMILIES for line in _when(EQUAL, family, ALLOW)]
    lines += _when(EQUAL, SOCKET[column], _argument(0), *known, REFUSE)
    return b"".join([*lines, ALLOW])
