"""Takes machines of fake hardware through their lives with Debian's openstacksdk.

usage: openstacksdk.py URL, the URL of a conductor that asks for no password.
Each function is a resource or a part of a life, and leaves nothing behind.
"""

import sys

import openstack
from openstack import exceptions

WAIT = 60  # seconds, for whatever a conductor does in the background


def equal(got, want, what):
    if got != want:
        raise AssertionError(f"{what} is {got!r}, want {want!r}")


def refused(error, call, *args, **kwargs):
    try:
        call(*args, **kwargs)
    except error:
        return
    raise AssertionError(f"{call.__name__}{args} was not refused with {error.__name__}")


def node_of(api, name, **fields):
    return api.create_node(name=name, driver="fake-hardware", **fields)


def settled(api, n):
    """Waits for the end of what is under way. The SDK looks at the node it is given before it asks."""
    return api.wait_for_node_reservation(api.get_node(n.id), timeout=WAIT)


def nodes(api):
    n = node_of(api, "n1", resource_class="big", properties={"cpus": 4}, extra={"rack": 7}, provision_state="enroll")
    equal((n.provision_state, n.name, n.properties), ("enroll", "n1", {"cpus": 4}), "a new node")
    equal([x.id for x in api.nodes()], [n.id], "the list")
    equal([x.resource_class for x in api.nodes(details=True, resource_class="big", is_maintenance=False)], ["big"], "the list in detail")
    equal([x.id for x in api.nodes(provision_state="active")], [], "the active nodes")
    equal([x.name for x in api.nodes(fields=["id", "name"], limit=1)], ["n1"], "the list of names")
    equal(api.find_node("n1").id, n.id, "the node found by name")
    equal(api.find_node("nobody"), None, "a node that is not there")
    refused(exceptions.NotFoundException, api.get_node, "nobody")
    refused(exceptions.ConflictException, node_of, api, "n1")
    n = api.update_node(n, name="n2", extra={"rack": 8}, owner="tenant")
    equal((n.name, n.extra, n.owner), ("n2", {"rack": 8}, "tenant"), "the updated node")
    n = api.patch_node(n, [{"op": "add", "path": "/extra/row", "value": 3}, {"op": "remove", "path": "/extra/rack"}])
    equal(n.extra, {"row": 3}, "the patched node")
    n = api.update_node(n, instance_id="11111111-2222-4333-8444-555555555559")
    equal([x.id for x in api.nodes(instance_id="11111111-2222-4333-8444-555555555559", associated=True)], [n.id], "the node of an instance")
    n = api.update_node(n, instance_id=None)
    n = api.set_node_maintenance(n, "a fan is loud")
    equal((n.is_maintenance, n.maintenance_reason), (True, "a fan is loud"), "maintenance")
    n = api.unset_node_maintenance(n)
    equal(n.is_maintenance, False, "maintenance")
    api.set_node_traits(n, ["CUSTOM_A", "CUSTOM_B"])
    api.add_node_trait(n, "HW_CPU_X86_VMX")
    equal(api.remove_node_trait(n, "CUSTOM_B"), True, "removing a trait")
    refused(exceptions.NotFoundException, api.remove_node_trait, n, "CUSTOM_B")
    equal(sorted(api.get_node(n).traits), ["CUSTOM_A", "HW_CPU_X86_VMX"], "the traits")
    api.delete_node(n)
    refused(exceptions.NotFoundException, api.get_node, n.id)
    refused(exceptions.NotFoundException, api.delete_node, n.id, ignore_missing=False)


def life(api):
    n = node_of(api, "n1", provision_state="available", rescue_interface="fake")
    equal(n.provision_state, "available", "a node made available")
    n = api.set_node_provision_state(n, "manage", wait=True, timeout=WAIT)
    n = api.set_node_provision_state(n, "inspect", wait=True, timeout=WAIT)
    n = api.set_node_provision_state(n, "clean", clean_steps=[{"interface": "bios", "step": "factory_reset"}], wait=True, timeout=WAIT)
    n = api.set_node_provision_state(n, "provide", wait=True, timeout=WAIT)
    n = api.update_node(n, instance_info={"image_source": "http://images/os.raw", "image_checksum": "0123456789abcdef0123456789abcdef"})
    checks = api.validate_node(n, required=("boot", "deploy", "power"))
    equal(checks["power"].result, True, "the power interface")
    drive = {"meta_data": {"hostname": "n1"}, "user_data": "#cloud-config"}
    n = api.set_node_provision_state(n, "active", config_drive=drive, wait=True, timeout=WAIT)
    equal(n.provision_state, "active", "the deployed node")
    n = api.set_node_provision_state(n, "rebuild", config_drive=drive, deploy_steps=[
        {"interface": "bios", "step": "factory_reset", "priority": 50, "args": {}}], wait=True, timeout=WAIT)
    refused(exceptions.BadRequestException, api.set_node_provision_state, n, "provide")
    n = api.set_node_provision_state(n, "rescue", rescue_password="s3cret", wait=True, timeout=WAIT)
    n = api.set_node_provision_state(n, "unrescue")  # which the SDK cannot wait for by itself
    n = api.wait_for_nodes_provision_state([n], "active", timeout=WAIT)[0]
    n = api.set_node_provision_state(n, "deleted", wait=True, timeout=WAIT)
    equal(api.wait_for_nodes_provision_state([n], "available", timeout=WAIT)[0].id, n.id, "the node that is available")
    api.delete_node(n)


def controller(api):
    n = node_of(api, "n1", provision_state="manageable", console_interface="fake", vendor_interface="fake")
    for target, state in ("power on", "power on"), ("soft power off", "power off"), ("rebooting", "power on"), ("power off", "power off"):
        api.set_node_power_state(n, target, wait=True, timeout=WAIT)
        n = settled(api, n)
        equal(api.get_node(n).power_state, state, f"power after {target}")
    api.set_node_boot_device(n, "pxe", persistent=True)
    api.set_node_boot_mode(n, "bios")
    n = settled(api, n)
    api.set_node_secure_boot(n, True)
    n = settled(api, n)
    n = api.get_node(n)
    equal((n.boot_mode, n.is_secure_boot), ("bios", True), "the firmware's mode")
    equal("second_method" in api.list_node_vendor_passthru(n), True, "that the vendor's methods are listed")
    api.call_node_vendor_passthru(n, "POST", "second_method", {"bar": "kazoo"})
    n = settled(api, n)
    api.delete_node(n)


def ports(api):
    n = node_of(api, "n1", provision_state="manageable", network_interface="flat")
    bond = api.create_port_group(node_id=n.id, name="bond0", address="52:54:00:aa:00:0b", mode="802.3ad", properties={"miimon": "100"})
    equal([g.id for g in api.port_groups(node=n.id)], [bond.id], "the port groups")
    equal([g.mode for g in api.port_groups(details=True, address="52:54:00:aa:00:0b")], ["802.3ad"], "the port groups in detail")
    equal(api.find_port_group("bond0").id, bond.id, "the port group found by name")
    bond = api.update_port_group(bond, name="bond1", extra={"a": 1})
    bond = api.patch_port_group(bond, [{"op": "remove", "path": "/extra/a"}])
    equal((bond.name, bond.extra), ("bond1", {}), "the patched port group")
    p = api.create_port(node_id=n.id, address="52:54:00:AA:00:01", port_group_id=bond.id, local_link_connection={
        "switch_id": "0a:1b:2c:3d:4e:5f", "port_id": "Ethernet3/1", "switch_info": "s1"})
    equal((p.address, p.port_group_id, p.is_pxe_enabled), ("52:54:00:aa:00:01", bond.id, True), "a new port")
    equal([x.address for x in api.ports(details=True, node=n.id)], [p.address], "the ports in detail")
    equal([x.id for x in api.ports(address=p.address)], [p.id], "the ports of an address")
    equal(api.find_port(p.id).id, p.id, "the port found")
    p = api.update_port(p, is_pxe_enabled=False, physical_network="red", port_group_id=None)
    equal((p.is_pxe_enabled, p.physical_network, p.port_group_id), (False, "red", None), "the updated port")
    p = api.patch_port(p, [{"op": "add", "path": "/extra/slot", "value": 1}])
    equal(p.extra, {"slot": 1}, "the patched port")
    vif = "11111111-2222-4333-8444-0000000000f1"
    api.attach_vif_to_node(n, vif)
    equal(api.list_node_vifs(n), [vif], "what is attached")
    equal(api.detach_vif_from_node(n, vif), True, "detaching")
    equal(api.detach_vif_from_node(n, vif), False, "detaching again")
    api.delete_port(p)
    refused(exceptions.NotFoundException, api.get_port, p.id)
    api.delete_port_group(bond)
    refused(exceptions.NotFoundException, api.get_port_group, bond.id)
    api.delete_node(n)


def allocations(api):
    n = node_of(api, "n1", provision_state="available", resource_class="big")
    api.set_node_power_state(n, "power off", wait=True, timeout=WAIT)
    n = settled(api, n)
    api.set_node_traits(n, ["CUSTOM_A"])
    a = api.create_allocation(name="a1", resource_class="big", traits=["CUSTOM_A"], candidate_nodes=[n.id])
    a = api.wait_for_allocation(a, timeout=WAIT)
    equal((a.state, a.node_id), ("active", n.id), "the allocation")
    equal(api.get_node(n).allocation_id, a.id, "the allocation of the node")
    equal([x.id for x in api.allocations(node=n.id, resource_class="big", state="active")], [a.id], "the allocations")
    a = api.update_allocation(a, name="a2", extra={"b": 2})
    a = api.patch_allocation(a, [{"op": "remove", "path": "/extra/b"}])
    equal((a.name, a.extra), ("a2", {}), "the patched allocation")
    none = api.create_allocation(resource_class="huge")
    refused(exceptions.ResourceFailure, api.wait_for_allocation, none, timeout=WAIT)
    api.delete_allocation(none)
    api.delete_allocation(a)
    refused(exceptions.NotFoundException, api.get_allocation, a.id)
    api.delete_node(n)


def places(api):
    c = api.create_chassis(description="row 1", extra={"u": 42})
    n = node_of(api, "n1", chassis_id=c.id, provision_state="manageable")
    api.set_node_power_state(n, "power off", wait=True, timeout=WAIT)
    n = settled(api, n)
    equal([x.description for x in api.chassis(details=True)], ["row 1"], "the chassis")
    equal(api.find_chassis(c.id).id, c.id, "the chassis found")
    c = api.update_chassis(c, description="row 2")
    c = api.patch_chassis(c, [{"op": "remove", "path": "/extra/u"}])
    equal((c.description, c.extra), ("row 2", {}), "the patched chassis")
    v = api.create_volume_connector(node_id=n.id, type="iqn", connector_id="iqn.2026-11.org.example:n1")
    equal([x.connector_id for x in api.volume_connectors(details=True, node=n.id)], [v.connector_id], "the volume connectors")
    equal(api.find_volume_connector(v.id).id, v.id, "the volume connector found")
    v = api.update_volume_connector(v, connector_id="iqn.2026-11.org.example:n2")
    v = api.patch_volume_connector(v, [{"op": "add", "path": "/extra/a", "value": 1}])
    equal((v.connector_id, v.extra), ("iqn.2026-11.org.example:n2", {"a": 1}), "the patched volume connector")
    t = api.create_volume_target(node_id=n.id, volume_type="iscsi", boot_index=0, volume_id="v-1")
    equal([x.volume_id for x in api.volume_targets(details=True, node=n.id)], ["v-1"], "the volume targets")
    equal(api.find_volume_target(t.id).id, t.id, "the volume target found")
    t = api.update_volume_target(t, volume_id="v-2")
    t = api.patch_volume_target(t, [{"op": "replace", "path": "/boot_index", "value": 1}])
    equal((t.volume_id, t.boot_index), ("v-2", 1), "the patched volume target")
    api.delete_volume_target(t)
    refused(exceptions.NotFoundException, api.get_volume_target, t.id)
    api.delete_volume_connector(v)
    refused(exceptions.NotFoundException, api.get_volume_connector, v.id)
    api.delete_node(n)
    api.delete_chassis(c)
    refused(exceptions.NotFoundException, api.get_chassis, c.id)


def templates(api):
    step = {"interface": "bios", "step": "factory_reset", "args": {}, "priority": 50}
    t = api.create_deploy_template(name="CUSTOM_FAST", steps=[step])
    equal([x.steps for x in api.deploy_templates(details=True)], [[step]], "the deploy templates")
    t = api.update_deploy_template(t, name="CUSTOM_SLOW", extra={"a": 1})
    t = api.patch_deploy_template(t, [{"op": "remove", "path": "/extra/a"}])
    equal((t.name, t.extra), ("CUSTOM_SLOW", {}), "the patched deploy template")
    equal(api.get_deploy_template("CUSTOM_SLOW").id, t.id, "the deploy template by name")
    api.delete_deploy_template(t)
    refused(exceptions.NotFoundException, api.get_deploy_template, t.id)


def conductors(api):
    equal([(c.hostname, c.alive) for c in api.conductors()], [("test", True)], "the conductors")
    equal("fake-hardware" in api.get_conductor("test").drivers, True, "that the conductor has a driver")
    refused(exceptions.NotFoundException, api.get_conductor, "nobody")
    equal(sorted(d.name for d in api.drivers(details=True)), ["fake-hardware", "ipmi", "redfish"], "the drivers")
    d = api.get_driver("redfish")
    equal((d.hosts, d.default_power_interface), (["test"], "redfish"), "a driver")
    equal(api.list_driver_vendor_passthru("redfish"), {}, "the vendor's methods of a driver")


def main(url):
    api = openstack.connect(auth_type="none", endpoint=url, baremetal_endpoint_override=url + "/v1").baremetal
    for part in nodes, life, controller, ports, allocations, places, templates, conductors:
        try:
            part(api)
        except Exception as error:
            raise SystemExit(f"{part.__name__}: line {error.__traceback__.tb_next.tb_lineno}: {error!r}")
        print(part.__name__, "ok")


main(sys.argv[1])
