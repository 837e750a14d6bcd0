"""Takes Debian's python3-sushy, the client inside Ironic, through a controller.

usage: walk.py URL USER PASSWORD IMAGE_URL FIRMWARE_URL
"""
import sys
import time

import sushy
from sushy import auth, exceptions

url, user, password, image, firmware = sys.argv[1:]


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
expect("drives", [d.capacity_bytes >> 30 for d in drives],
       [1, 2, 100, 100, 100, 200])

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

# What Ironic's steps use: BIOS settings, ...
bios = system.bios
expect("attribute", bios.attributes["LogicalProc"], "Enabled")
expect("apply times", bios.supported_apply_times, [sushy.ApplyTime.ON_RESET])
bios.set_attribute("LogicalProc", "Disabled",
                   apply_time=sushy.ApplyTime.ON_RESET)
expect("pending", bios.pending_attributes, {"LogicalProc": "Disabled"})
system.reset_system(sushy.ResetType.ON)
bios.refresh(force=True)
expect("attribute after a start", bios.attributes["LogicalProc"], "Disabled")
expect("pending after a start", bios.pending_attributes, {})
bios.reset_bios()
system.reset_system(sushy.ResetType.FORCE_RESTART)
bios.refresh(force=True)
expect("attribute after a reset", bios.attributes["LogicalProc"], "Enabled")
registries = root._get_registry_collection().get_members()
attributes = registries[1].get_attribute_registry("en", None)
entries = {a.name: a for a in attributes.registry_entries.attributes}
expect("registry id", registries[1].registry, bios._attribute_registry)
expect("allowable", [v["ValueName"] for v in
                     entries["LogicalProc"].allowable_values],
       ["Enabled", "Disabled"])
expect("bounds", (entries["BootDelaySeconds"].lower_bound,
                  entries["BootDelaySeconds"].upper_bound), (0, 60))
expect("read only", entries["SystemFirmware"].read_only, True)

# ... volumes, ...
raid = [s for s in system.storage.get_members() if s.identity == "RAID"][0]
expect("raid types", len(raid.storage_controllers[0].raid_types), 5)
volumes = raid.volumes
expect("volume apply times",
       volumes.operation_apply_time_support.mapped_supported_values,
       [sushy.ApplyTime.IMMEDIATE, sushy.ApplyTime.ON_RESET])
mirror = {"RAIDType": "RAID1", "Name": "system", "Links": {"Drives": [
    {"@odata.id": d.path} for d in raid.drives[:2]]}}
volumes.create(mirror, apply_time=sushy.ApplyTime.IMMEDIATE)
volumes.refresh(force=True)
volume = volumes.get_members()[0]
expect("volume", (volume.name, volume.raid_type, volume.capacity_bytes),
       ("system", sushy.RAIDType.RAID1, 100 << 30))
deletion = volume.delete(apply_time=sushy.ApplyTime.ON_RESET)
expect("deletion waits", deletion.check_is_processing, True)
system.reset_system(sushy.ResetType.FORCE_RESTART)
deletion.wait(30)
system = root.get_system(system.path)  # the old one remembers the volume
expect("volumes", [s.volumes.get_members() for s in
                   system.storage.get_members()], [[], []])

# ... firmware, ...
updates = root.get_update_service()
inventory = updates.firmware_inventory.get_members()
expect("firmware", [(f.identity, f.version) for f in inventory],
       [("BIOS", "SeaBIOS"), ("BMC", "1.0.0")])
update = updates.simple_update(firmware + "/BIOS-2.0")
update.wait(30)
task = root.get_task_service().tasks.get_members()[-1]
expect("update", (task.task_state, task.percent_complete),
       (sushy.TaskState.COMPLETED, 100))
system.reset_system(sushy.ResetType.FORCE_RESTART)
system.refresh(force=True)
expect("firmware after a start", system.bios_version, "2.0")

# ... and secure boot.
system.set_system_boot_options(mode=sushy.BootSourceOverrideMode.UEFI)
secure = system.secure_boot
expect("secure boot", (secure.enabled, secure.current_boot, secure.mode),
       (False, sushy.SecureBootCurrentBoot.DISABLED,
        sushy.SecureBootMode.USER))
secure.set_enabled(True)
system.reset_system(sushy.ResetType.FORCE_RESTART)
secure.refresh(force=True)
expect("secure boot", (secure.enabled, secure.current_boot),
       (True, sushy.SecureBootCurrentBoot.ENABLED))
secure.reset_keys(sushy.SecureBootResetKeysType.DELETE_ALL_KEYS)
system.reset_system(sushy.ResetType.FORCE_RESTART)
secure.refresh(force=True)
expect("keys", secure.mode, sushy.SecureBootMode.SETUP)

# A controller that restarts is away for a moment; the session that this cost
# is renewed without a word.
manager.reset_manager(sushy.ResetType.GRACEFUL_RESTART)
for _ in range(1000):
    try:
        sessions = root.get_session_service().sessions.get_members()
        break
    except exceptions.ConnectionError:
        time.sleep(0.01)
expect("sessions", len(sessions), 1)
session.close()
try:
    sushy.Sushy(url, auth=auth.SessionAuth(user, "wrong"), verify=False)
    sys.exit("a wrong password was taken")
except exceptions.AccessError as e:
    expect("wrong password", e.status_code, 401)
print("ok")
