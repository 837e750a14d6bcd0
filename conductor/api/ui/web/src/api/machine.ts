// Requests about one machine.
import type { Node, Provision, Status } from './types'
import { call, get, path } from './client'
import { imageChanges, type Image } from '../lib/deploy'
import type { Verb } from '../lib/verbs'

const node = (id: string, rest = ''): string => path('/v1/nodes/{node}', id) + rest
export const ferrite = (id: string, rest: string): string => path('/ferrite/v1/nodes/{node}', id) + rest

export const readNode = (id: string, signal?: AbortSignal): Promise<Node> => get<Node>(node(id), undefined, signal)
export const readStatus = (id: string, signal?: AbortSignal): Promise<Status> => get<Status>(ferrite(id, '/status'), undefined, signal)

/** readStatuses are the statuses of several machines, by their UUIDs; a hundred at a time at most. */
export async function readStatuses(uuids: string[], signal?: AbortSignal): Promise<Record<string, Status>> {
  if (uuids.length === 0) return {}
  const answer = await get<{ nodes: Record<string, Status> }>('/ferrite/v1/nodes/status', { nodes: uuids.join(',') }, signal)
  return answer.nodes
}

export interface Change {
  op: 'add' | 'replace' | 'remove'
  path: string
  value?: unknown
}

export const patchNode = (id: string, changes: Change[]): Promise<Node> => call<Node>('PATCH', node(id), { body: changes })

/** Arguments of a verb; the image goes into the node before it is deployed. */
export type Arguments = Omit<Partial<Provision>, 'target'> & { reason?: string; image?: Image }

/** ask asks a machine for a verb. */
export async function ask(v: Verb, id: string, more: Arguments = {}): Promise<void> {
  const { reason, image, ...rest } = more
  if (image && image.url !== '') await patchNode(id, imageChanges(image))
  switch (v.kind) {
    case 'provision':
      return call('PUT', node(id, '/states/provision'), { body: { target: v.target, ...rest } })
    case 'power':
      return call('PUT', node(id, '/states/power'), { body: { target: v.target } })
    case 'maintenance':
      if (v.id === 'maintenance') return call('PUT', node(id, '/maintenance'), { body: reason ? { reason } : {} })
      return call('DELETE', node(id, '/maintenance'))
    case 'delete':
      return call('DELETE', node(id))
    case 'console':
      return call('PUT', node(id, '/states/console'), { body: { enabled: v.target === 'on' } })
  }
}
