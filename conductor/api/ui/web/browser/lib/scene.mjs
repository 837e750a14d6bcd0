// Machines in states that real ones have: made with requests alone, so that each state is a real one.
export const macOf = (i) => `52:54:00:00:${String(i >> 8).padStart(2, '0')}:${(i & 255).toString(16).padStart(2, '0')}`

/** hostile is text that would run, break out or hide, if a page let it. */
export const hostile = {
  name: 'x"><img src=x onerror=document.title=1>',
  script: '<script>document.title="run"</script><img src=x onerror="document.title=\'run\'">javascript:alert(1)\u202eevil',
}

async function create(c, name, more = {}) {
  const node = await c.call('POST', '/v1/nodes', { name, driver: 'fake-hardware', resource_class: 'compute', ...more })
  return node.uuid
}

export async function enroll(c, name, more) {
  const uuid = await create(c, name, more)
  await c.verb(uuid, 'manage')
  await c.until(uuid, 'manageable')
  return uuid
}

/** available is a machine that was cleaned; fake deploy interfaces clean at once. */
export async function available(c, name, more) {
  const uuid = await enroll(c, name, { deploy_interface: 'fake', ...more })
  await c.verb(uuid, 'provide')
  await c.until(uuid, 'available')
  return uuid
}

export async function active(c, name, more) {
  const uuid = await available(c, name, more)
  await c.call('PATCH', `/v1/nodes/${uuid}`, [{ op: 'add', path: '/instance_info/image_source', value: 'http://10.0.0.1/debian.qcow2' }])
  await c.verb(uuid, 'active')
  await c.until(uuid, 'active')
  return uuid
}

/** waiting is a machine whose ramdisk is waited for. */
export async function waiting(c, name, more) {
  const uuid = await enroll(c, name, { deploy_interface: 'direct', inspect_interface: 'agent', ...more })
  await c.verb(uuid, 'inspect')
  await c.until(uuid, 'inspect wait')
  return uuid
}

export async function failed(c, name, more) {
  const uuid = await waiting(c, name, more)
  await c.verb(uuid, 'abort')
  await c.until(uuid, 'inspect failed')
  return uuid
}

const inventory = (mac, model) => ({
  interfaces: [
    { name: 'eth0', mac_address: mac, ipv4_address: '10.0.0.21', has_carrier: true, speed_mbps: 25000, vendor: 'Mellanox', product: 'MT2892', driver: 'mlx5_core', lldp: [] },
    { name: 'eth1', mac_address: mac.replace(/^52/, '56'), has_carrier: false, lldp: [] },
  ],
  cpu: { model_name: 'AMD EPYC 9354P', frequency: '3250', count: 64, architecture: 'x86_64', flags: [] },
  memory: { total: 274877906944, physical_mb: 262144 },
  disks: [
    { name: '/dev/nvme0n1', model: 'SAMSUNG MZQL2960', size: 960197124096, rotational: false, serial: 'S64F1', wwn: 'eui.1', tran: 'nvme' },
    { name: '/dev/nvme1n1', model: 'SAMSUNG MZQL2960', size: 960197124096, rotational: false, serial: 'S64F2', wwn: 'eui.2', tran: 'nvme' },
    { name: '/dev/sda', model, size: 16000900661248, rotational: true, serial: 'ZL2', wwn: '0x5000', tran: 'sas' },
  ],
  system_vendor: { product_name: 'R6615', serial_number: 'CZ1', manufacturer: 'Dell Inc.', firmware: { vendor: 'Dell Inc.', version: '1.6.10', build_date: '12/01/2025' } },
  boot: { current_boot_mode: 'uefi' }, hostname: 'ramdisk',
})

/** inspected is a machine whose agent has sent an inventory. */
export async function inspected(c, name, i, more, model = 'ST16000NM004J') {
  const mac = macOf(i)
  const uuid = await enroll(c, name, { inspect_interface: 'agent', ...more })
  await c.call('POST', '/v1/ports', { node_uuid: uuid, address: mac, local_link_connection: { switch_id: '00:1c:73:aa:bb:cc', port_id: 'Ethernet12', switch_info: 'leaf-3' } })
  await c.verb(uuid, 'inspect')
  await c.until(uuid, 'inspect wait')
  await c.call('POST', `/v1/continue_inspection?node_uuid=${uuid}`, { inventory: inventory(mac, model), error: null })
  await c.until(uuid, 'manageable')
  return uuid
}

const metal = '/apis/metal3.io/v1alpha1/namespaces/default/baremetalhosts'

/** hosts are documents: one that becomes a machine, and one whose BMC is not known. */
async function hosts(c) {
  await c.call('POST', '/api/v1/namespaces/default/secrets', {
    apiVersion: 'v1', kind: 'Secret', metadata: { name: 'worker-0-bmc' }, stringData: { username: 'admin', password: 'secret' },
  })
  const host = (name, spec) => ({ apiVersion: 'metal3.io/v1alpha1', kind: 'BareMetalHost', metadata: { name }, spec })
  await c.call('POST', metal, host('worker-0', { online: true, bootMACAddress: '52:54:00:12:34:56', bmc: { address: 'fake://worker-0', credentialsName: 'worker-0-bmc' } }))
  await c.call('POST', metal, host('worker-1', { online: false, bootMACAddress: '52:54:00:12:34:57' }))
}

/** upload keeps an image under a name. */
async function upload(c, name, content) {
  const answer = await fetch(`${c.url}/ferrite/v1/images/${name}/file`, { method: 'PUT', headers: { 'Content-Type': 'application/octet-stream' }, body: content })
  if (!answer.ok) throw new Error(`the image ${name} is refused: ${answer.status} ${await answer.text()}`)
}

/** records are those beside machines. */
async function records(c) {
  await upload(c, 'tiny', Buffer.alloc(1 << 20, 7))
  await c.call('POST', '/v1/runbooks', { name: 'CUSTOM_WIPE', steps: [{ interface: 'deploy', step: 'erase_devices_metadata', args: {}, order: 1 }] })
  await c.call('POST', '/v1/deploy_templates', { name: 'CUSTOM_HT', steps: [{ interface: 'bios', step: 'apply_configuration', args: { settings: [] }, priority: 150 }] })
  await c.call('POST', '/v1/allocations', { name: 'none', resource_class: 'a-class-that-no-machine-has' })
  await c.call('POST', '/v1/inspection_rules', {
    description: 'Machines of this maker are compute nodes', conditions: [],
    actions: [{ op: 'set-attribute', args: { path: '/resource_class', value: 'compute' } }],
  })
  await c.call('PUT', '/ferrite/v1/leases/52:54:00:00:00:99', { ip: '10.0.0.99' })
}

/** fewAtATime keeps below the connections that a conductor lets an address have. */
async function fewAtATime(jobs) {
  const worker = async () => {
    for (let job = jobs.shift(); job; job = jobs.shift()) await job()
  }
  await Promise.all(Array.from({ length: 6 }, worker))
}

/** scene makes the machines of the screenshots. */
export async function scene(c) {
  const ids = {}
  ids.inspected = await inspected(c, 'db-1', 1, { description: 'The first database server', properties: { root_device: { size: '> 100' } } })
  const jobs = []
  for (let i = 1; i <= 14; i++) jobs.push(() => active(c, `web-${i}`, { owner: i < 4 ? 'blue' : null }))
  for (let i = 1; i <= 9; i++) jobs.push(() => available(c, `spare-${i}`, { resource_class: i < 4 ? 'gpu' : 'compute' }))
  for (let i = 1; i <= 4; i++) jobs.push(() => enroll(c, `new-${i}`))
  jobs.push(() => failed(c, 'rack4-7').then((uuid) => (ids.failed = uuid)))
  jobs.push(() => waiting(c, 'rack4-8').then((uuid) => (ids.waiting = uuid)))
  jobs.push(() => waiting(c, 'rack4-9'))
  jobs.push(() => create(c, 'rack4-10', { driver: 'redfish', driver_info: { redfish_address: 'https://127.0.0.1:1', redfish_username: 'admin', redfish_password: 'x' } }).then((uuid) => {
    ids.unreachable = uuid
    return c.verb(uuid, 'manage')
  }))
  jobs.push(() => active(c, 'old-1').then((uuid) => {
      ids.maintenance = uuid
      return c.call('PUT', `/v1/nodes/${uuid}/maintenance`, { reason: 'fan 3 is replaced' })
    }),
  )
  jobs.push(() => create(c, undefined, { driver: 'redfish', driver_info: { redfish_address: 'https://10.0.1.6' }, properties: { cpus: 64 } }))
  jobs.push(() => records(c))
  jobs.push(() => hosts(c))
  await fewAtATime(jobs)
  ids.active = (await c.call('GET', '/v1/nodes/web-5')).uuid
  return ids
}
