// BareMetalHosts, by the Kubernetes API of the conductor.
import { call, get, path, send } from './client'

export interface Condition {
  type: string
  status: string
  reason?: string
  message?: string
  lastTransitionTime?: string
}

export interface Host {
  metadata: { name: string; namespace: string; creationTimestamp?: string; annotations?: Record<string, string> }
  spec: { online?: boolean; image?: { url?: string }; bmc?: { address?: string }; externallyProvisioned?: boolean }
  status?: {
    provisioning?: { state?: string; ID?: string }
    operationalStatus?: string
    errorMessage?: string
    errorType?: string
    errorCount?: number
    poweredOn?: boolean
    conditions?: Condition[]
  }
}

export interface HostEvent {
  type: string
  reason: string
  message: string
  count?: number
  lastTimestamp?: string
  involvedObject: { kind: string; name: string; namespace?: string }
}

/** rules stand for the roles of documents, which the session does not tell: leases have the same ones. */
export const rules = { read: 'ferrite:lease:get', write: 'ferrite:lease:set' }

const kind = '/apis/metal3.io/v1alpha1/'
const one = (namespace: string, name: string) => path(`${kind}namespaces/{namespace}/baremetalhosts/{name}`, namespace, name)

export const readHosts = async (signal: AbortSignal): Promise<Host[]> => (await get<{ items: Host[] }>(`${kind}baremetalhosts`, undefined, signal)).items
export const readHost = (namespace: string, name: string, signal: AbortSignal): Promise<Host> => get<Host>(one(namespace, name), undefined, signal)

export async function readHostEvents(namespace: string, name: string, signal: AbortSignal): Promise<HostEvent[]> {
  const found = await get<{ items: HostEvent[] }>(path('/api/v1/namespaces/{namespace}/events', namespace), undefined, signal)
  return found.items.filter((e) => e.involvedObject.kind === 'BareMetalHost' && e.involvedObject.name === name).reverse()
}

/** readText is the document as YAML, without its status. */
export async function readText(namespace: string, name: string, signal: AbortSignal): Promise<string> {
  const text = await (await send('GET', one(namespace, name), { signal, headers: { Accept: 'application/yaml' } })).text()
  return withoutStatus(text)
}

export function withoutStatus(text: string): string {
  const at = text.search(/^status:/m)
  return at < 0 ? text : text.slice(0, at)
}

/** writeText checks a document, or stores it; the namespace and name are those of the page. */
export const writeText = (namespace: string, name: string, text: string, check: boolean, signal?: AbortSignal): Promise<unknown> =>
  call('PUT', one(namespace, name), { body: text, type: 'application/yaml', query: { dryRun: check ? 'All' : undefined, fieldValidation: 'Strict' }, signal })

/** create makes a host, or only checks that it could be made. */
export const create = (namespace: string, text: string, check: boolean, signal?: AbortSignal): Promise<unknown> =>
  call('POST', path(`${kind}namespaces/{namespace}/baremetalhosts`, namespace), {
    body: text, type: 'application/yaml', query: { dryRun: check ? 'All' : undefined, fieldValidation: 'Strict' }, signal,
  })

export const remove = (namespace: string, name: string): Promise<unknown> => call('DELETE', one(namespace, name))
