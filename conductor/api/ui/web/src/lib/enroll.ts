// The form by which a machine is enrolled: the settings of its BMC, and the interfaces that drive it.

/** Setting is a setting of a driver that nearly every machine has, in plain words. */
export interface Setting {
  key: string
  label: string
  means: string
  example?: string
  required?: boolean
  /** seldom: it is among the settings that few machines need. */
  seldom?: boolean
}

/** common are those of each driver, in the order of the form. */
export const common: Record<string, Setting[]> = {
  redfish: [
    { key: 'redfish_address', label: 'Address of the BMC', means: 'Its host name or IP address, or the URL of its Redfish service.', example: 'https://10.0.1.5', required: true },
    { key: 'redfish_username', label: 'User of the BMC', means: 'A user who may switch the machine on and off, and set its boot device.', example: 'admin' },
    { key: 'redfish_password', label: 'Password of the BMC', means: 'It is kept sealed, and never shown again.' },
    { key: 'redfish_verify_ca', label: 'Check the BMC’s certificate', means: 'Left empty: yes, by the authorities of the conductor’s host. false takes any certificate; or the PEM of an authority.', seldom: true },
    { key: 'redfish_system_id', label: 'System, where the BMC has several', means: 'For chassis with one BMC for several machines.', example: '/redfish/v1/Systems/1', seldom: true },
  ],
  ipmi: [
    { key: 'ipmi_address', label: 'Address of the BMC', means: 'Its host name or IP address.', example: '10.0.1.5', required: true },
    { key: 'ipmi_username', label: 'User of the BMC', means: 'A user with the privilege level administrator.', example: 'ADMIN' },
    { key: 'ipmi_password', label: 'Password of the BMC', means: 'It is kept sealed, and never shown again.' },
    { key: 'ipmi_port', label: 'Port of the BMC', means: 'Left empty: 623.', seldom: true },
  ],
}

/** Driver is a hardware type, with the interfaces that it has. */
export type Driver = { name: string } & Record<string, unknown>

export interface Choice {
  /** field of the node. */
  field: string
  label: string
  means: string
  /** usual is offered before the others. */
  usual: boolean
  default: string
  options: string[]
}

const kinds: [kind: string, label: string, means: string, usual: boolean][] = [
  ['inspect', 'Inspection', 'agent boots a ramdisk that reads disks and links; the others ask the BMC alone. Left empty: agent where there is a MAC address.', true],
  ['console', 'Serial console', 'For clients of Ironic. The console of this page, and ferrite node console, need none.', false],
  ['rescue', 'Rescue', 'agent boots a ramdisk to log in to when the system is broken.', true],
  ['boot', 'Boot', 'How the ramdisk is booted: from the network, or from a virtual drive of the BMC.', false],
  ['deploy', 'Deploy', 'direct: the ramdisk writes the image to a disk.', false],
  ['raid', 'RAID', '', false],
  ['bios', 'BIOS settings', '', false],
  ['firmware', 'Firmware', '', false],
  ['management', 'Boot device and sensors', '', false],
  ['network', 'Network', '', false],
  ['vendor', 'Vendor’s own calls', '', false],
]

/** choices are the interfaces of which a driver has more than one. */
export function choices(driver: Driver | undefined): Choice[] {
  if (!driver) return []
  return kinds
    .map(([kind, label, means, usual]) => ({
      field: `${kind}_interface`, label, means, usual, default: String(driver[`default_${kind}_interface`] ?? ''),
      options: (driver[`enabled_${kind}_interfaces`] ?? []) as string[],
    }))
    .filter((choice) => choice.options.length > 1)
}

const typed = (form: FormData, name: string): string => String(form.get(name) ?? '').trim()

/** driverInfo is what was typed of the driver's settings. */
export function driverInfo(form: FormData, keys: string[]): Record<string, string> {
  return Object.fromEntries(keys.map((key) => [key, typed(form, `info/${key}`)]).filter(([, value]) => value !== ''))
}

/**
 * bodyOf is the node as it was typed; fields that were left empty are the driver's defaults. As `ferrite node create` does it, a
 * machine with a MAC address is inspected by the ramdisk, where the driver has that.
 */
export function bodyOf(form: FormData, driver: string, keys: string[], interfaces: string[], ramdiskInspects: boolean): Record<string, unknown> {
  const body: Record<string, unknown> = { driver, driver_info: driverInfo(form, keys) }
  for (const key of ['name', 'resource_class', 'owner', 'description', ...interfaces]) if (typed(form, key) !== '') body[key] = typed(form, key)
  if (ramdiskInspects && typed(form, 'mac') !== '') body['inspect_interface'] ??= 'agent'
  return body
}
