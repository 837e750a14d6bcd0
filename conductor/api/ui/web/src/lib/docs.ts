// The page of the documentation that each page of the interface belongs to.

/** docs are files below docs/, by the first word of a page's address; a part of a machine's page is behind a slash. */
export const docs: Record<string, string> = {
  '': 'operate/web-interface.md',
  enroll: 'operate/enroll.md',
  discovered: 'operate/discovery.md',
  hosts: 'hosts/apply.md',
  images: 'operate/images.md',
  allocations: 'operate/enroll.md',
  runbooks: 'operate/steps.md',
  templates: 'operate/steps.md',
  'inspection-rules': 'operate/inspect.md',
  leases: 'operate/boot-networks.md',
  'erase-reports': 'operate/erase.md',
  conductors: 'operate/several-conductors.md',
  users: 'operate/users-and-roles.md',
  audit: 'operate/audit.md',
  machines: 'operate/deploy.md',
  'machines/timeline': 'operate/events.md',
  'machines/log': 'operate/logs.md',
  'machines/console': 'operate/console.md',
  'machines/disks': 'operate/inspect.md',
  'machines/network': 'operate/boot-networks.md',
  'machines/firmware': 'operate/firmware.md',
  'machines/bios': 'operate/steps.md',
  'machines/sensors': 'operate/sensors.md',
  'machines/reports': 'operate/erase.md',
}

/** helpOf is the address of the documentation of a page, and of a part of it. */
export function helpOf(page: string, part: string): string {
  const file = docs[`${page}/${part}`] ?? (Object.hasOwn(docs, page) ? docs[page] : undefined) ?? 'README.md'
  return `/ui/docs/${file.replace(/README\.md$/, '').replace(/\.md$/, '.html')}`
}
