// The form by which a machine is enrolled: the settings of its BMC, and the interfaces that drive it.

/** Setting is a setting of a driver that nearly every machine has, in plain words. */
export interface Setting {
  key: string
  label: string
}

/** common are those of each driver, in the order of the form. */
export const common: Record<string, Setting[]> = {
  redfish: [
    { key: 'redfish_address', label: 'Address of the BMC' },
    { key: 'redfish_username', label: 'User of the BMC' },
    { key: 'redfish_password', label: 'Password of the BMC' },
    { key: 'redfish_verify_ca', label: 'Check the BMC’s certificate' },
    { key: 'redfish_system_id', label: 'System, where the BMC has several' },
  ],
  ipmi: [
    { key: 'ipmi_address', label: 'Address of the BMC' },
    { key: 'ipmi_username', label: 'User of the BMC' },
    { key: 'ipmi_password', label: 'Password of the BMC' },
    { key: 'ipmi_port', label: 'Port of the BMC' },
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
  ['inspect', 'Inspection', 'agent boots a ramdisk that reads disks and links; the others ask the BMC alone.', true],
  ['console', 'Serial console', 'With one of them, the console can be opened in the browser.', true],
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
