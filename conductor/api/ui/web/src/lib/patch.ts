// Changes between two texts of JSON fields, as a JSON patch of the node.
import type { Change } from '../api/machine'

/** editable are the fields of a node that the interface changes as JSON or text. */
export const editable = [
  'name', 'description', 'resource_class', 'owner', 'lessee', 'conductor_group', 'automated_clean', 'protected', 'protected_reason', 'retired',
  'retired_reason', 'driver', 'driver_info', 'properties', 'instance_info', 'extra', 'network_data',
  'bios_interface', 'boot_interface', 'console_interface', 'deploy_interface', 'firmware_interface', 'inspect_interface',
  'management_interface', 'network_interface', 'power_interface', 'raid_interface', 'rescue_interface', 'storage_interface', 'vendor_interface',
] as const

/** differences are the changes that lead from one document to another; objects are compared key by key. */
export function differences(before: unknown, after: unknown, path = ''): Change[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
  const isObject = (v: unknown): v is Record<string, unknown> => typeof v === 'object' && v !== null && !Array.isArray(v)
  if (!isObject(before) || !isObject(after)) return [{ op: path !== '' && after === undefined ? 'remove' : 'add', path, value: after } as Change]
  const changes: Change[] = []
  for (const key of new Set([...Object.keys(before), ...Object.keys(after)])) {
    const at = `${path}/${key.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!(key in after)) changes.push({ op: 'remove', path: at })
    else if (!(key in before)) changes.push({ op: 'add', path: at, value: after[key] })
    else changes.push(...differences(before[key], after[key], at))
  }
  return changes
}
