"""Takes Debian's python3-sushy, the client inside Ironic, through a controller.

usage: walk.py URL USER PASSWORD IMAGE_URL
"""
import sys

import sushy
from sushy import auth, exceptions

url, user, password, image = sys.argv[1:]


def expect(what, found, wanted):
    if found != wanted:
        sys.exit("%s: found %r, expected %r" % (what, found, wanted))


session = auth.SessionAuth(user, password)
root = sushy.Sushy(url, auth=session, verify=False)
system = root.get_system("/redfish/v1/Systems/1")
expect("default system", root.get_system().path, system.path)
expect("power", system.power_state, sushy.PowerState.OFF)
expect("serial", system.serial_number, "NODE-0")
expect("memory", system.memory_summary.size_gib, 1)
expect("processor threads", system.processors.summary.count, 2)
expect("nics", sorted(system.ethernet_interfaces.summary),
       ["52:54:00:77:00:01", "52:54:00:77:00:02"])
expect("disks", system.simple_storage.disks_sizes_bytes, [1 << 30, 2 << 30])
drives = [d for s in system.storage.get_members() for d in s.drives]
expect("drives", [d.capacity_bytes for d in drives], [1 << 30, 2 << 30])

allowed = system.get_allowed_system_boot_source_values()
expect("boot sources", sorted(v.value for v in allowed),
       ["Cd", "Hdd", "None", "Pxe", "UefiHttp"])
system.set_system_boot_options(target=sushy.BootSource.PXE,
                               enabled=sushy.BootSourceOverrideEnabled.ONCE)
system.refresh()
expect("target", system.boot.target, sushy.BootSource.PXE)
system.reset_system(sushy.ResetType.ON)
system.refresh()
expect("power", system.power_state, sushy.PowerState.ON)
expect("target after a start", system.boot.target, sushy.BootSource.NONE)
expect("override after a start", system.boot.enabled,
       sushy.BootSourceOverrideEnabled.DISABLED)
system.set_system_boot_options(target=sushy.BootSource.HDD,
                               enabled=sushy.BootSourceOverrideEnabled.CONTINUOUS,
                               mode=sushy.BootSourceOverrideMode.LEGACY)
system.refresh()
expect("mode", system.boot.mode, sushy.BootSourceOverrideMode.LEGACY)
system.reset_system(sushy.ResetType.FORCE_RESTART)
system.reset_system(sushy.ResetType.FORCE_OFF)
system.refresh(force=True)
expect("power", system.power_state, sushy.PowerState.OFF)
try:
    system.reset_system(sushy.ResetType.NMI)
    sys.exit("NMI of a machine that is off was taken")
except exceptions.HTTPError as e:
    expect("NMI", (e.status_code, e.code),
           (409, "Base.1.16.ChassisPowerStateOnRequired"))

manager = root.get_manager("/redfish/v1/Managers/1")
expect("manager's systems", [s.path for s in manager.systems], [system.path])
media = manager.virtual_media.get_members()[0]
expect("inserted", media.inserted, False)
media.insert_media(image)
media.refresh()
expect("image", (media.inserted, media.image), (True, image))
media.eject_media()
media.refresh()
expect("inserted", media.inserted, False)

chassis = root.get_chassis("/redfish/v1/Chassis/1")
expect("chassis", [s.path for s in chassis.systems], [system.path])
# Not root.registries: Debian's package lacks the files that reads first.
registry = root._get_registry_collection().get_members()[0]
base = registry.get_message_registry("en", None)
expect("registry", registry.registry, "Base.1.16")
expect("arguments", base.messages["PropertyMissing"].number_of_args, 1)
expect("tasks", root.get_task_service().tasks.get_members(), [])

# An expired session is renewed without a word.
manager.reset_manager(sushy.ResetType.GRACEFUL_RESTART)
expect("sessions", len(root.get_session_service().sessions.get_members()), 1)
session.close()
try:
    sushy.Sushy(url, auth=auth.SessionAuth(user, "wrong"), verify=False)
    sys.exit("a wrong password was taken")
except exceptions.AccessError as e:
    expect("wrong password", e.status_code, 401)
print("ok")
