// The table of records beside machines, each with a page of the same form.

export interface Kind {
  title: string
  noun: string
  /** path is the collection, key its name in answers. */
  path: string
  key: string
  rules: { create: string; delete: string }
  columns: { label: string; field: string; wide?: boolean; time?: boolean; machine?: boolean }[]
  /** example is what a new one begins with. */
  example: Record<string, unknown>
  means: string
}

export const kinds: Record<string, Kind> = {
  allocations: {
    title: 'Allocations', noun: 'allocation', path: '/v1/allocations', key: 'allocations',
    rules: { create: 'baremetal:allocation:create', delete: 'baremetal:allocation:delete' },
    columns: [
      { label: 'Name', field: 'name' },
      { label: 'State', field: 'state' },
      { label: 'Class', field: 'resource_class' },
      { label: 'Machine', field: 'node_uuid', machine: true },
      { label: 'Traits', field: 'traits', wide: true },
      { label: 'Owner', field: 'owner', wide: true },
      { label: 'Error', field: 'last_error' },
    ],
    example: { name: 'db', resource_class: 'compute', traits: [] },
    means: 'An allocation is given an available machine of a resource class.',
  },
  runbooks: {
    title: 'Runbooks', noun: 'runbook', path: '/v1/runbooks', key: 'runbooks',
    rules: { create: 'baremetal:runbook:create', delete: 'baremetal:runbook:delete' },
    columns: [
      { label: 'Name', field: 'name' },
      { label: 'Steps', field: 'steps' },
      { label: 'Traits', field: 'traits', wide: true },
      { label: 'Owner', field: 'owner', wide: true },
      { label: 'Public', field: 'public', wide: true },
    ],
    example: { name: 'CUSTOM_WIPE', steps: [{ interface: 'deploy', step: 'erase_devices_metadata', args: {}, order: 1 }] },
    means: 'A runbook is a list of steps with a name, for cleaning and service.',
  },
  templates: {
    title: 'Deploy templates', noun: 'template', path: '/v1/deploy_templates', key: 'deploy_templates',
    rules: { create: 'baremetal:deploy_template:create', delete: 'baremetal:deploy_template:delete' },
    columns: [
      { label: 'Name', field: 'name' },
      { label: 'Steps', field: 'steps' },
      { label: 'Changed', field: 'updated_at', wide: true, time: true },
    ],
    example: { name: 'CUSTOM_HYPERTHREADING_ON', steps: [{ interface: 'bios', step: 'apply_configuration', args: { settings: [] }, priority: 150 }] },
    means: 'A deploy template adds steps to the deploys that request its trait.',
  },
  'inspection-rules': {
    title: 'Inspection rules', noun: 'rule', path: '/v1/inspection_rules', key: 'inspection_rules',
    rules: { create: 'baremetal:inspection_rule:create', delete: 'baremetal:inspection_rule:delete' },
    columns: [
      { label: 'Description', field: 'description' },
      { label: 'Phase', field: 'phase', wide: true },
      { label: 'Priority', field: 'priority', wide: true },
      { label: 'Conditions', field: 'conditions' },
      { label: 'Actions', field: 'actions' },
    ],
    example: {
      description: 'Machines of this maker are compute nodes',
      conditions: [{ op: 'contains', args: { value: '{inventory[system_vendor][manufacturer]}', regex: 'Dell' } }],
      actions: [{ op: 'set-attribute', args: { path: '/resource_class', value: 'compute' } }],
    },
    means: 'An inspection rule changes machines by the data of their inspection.',
  },
}
