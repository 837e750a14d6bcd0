import { inLabels } from '../lib/words'

/** Fault is an answer that says no, in the conductor's words. */
export class Fault extends Error {
  constructor(
    readonly status: number,
    message: string,
  ) {
    super(message)
  }
}

/** unreachable is the status of a Fault without an answer. */
export const unreachable = 0

/** errorText is an error as a user reads it, with the labels of the forms. */
export const errorText = (err: unknown): string => inLabels(err instanceof Error ? err.message : String(err))

/** faultText is the text of a fault: Ironic's, twice encoded in older forms, or that of Kubernetes. */
export function faultText(text: string): string {
  try {
    const doc = JSON.parse(text) as Record<string, unknown>
    let inner: unknown = doc['error_message'] ?? doc
    if (typeof inner === 'string') {
      try {
        inner = JSON.parse(inner as string)
      } catch {
        return inner as string
      }
    }
    const fault = inner as Record<string, unknown>
    return String(fault['faultstring'] ?? fault['message'] ?? '')
  } catch {
    return text.slice(0, 500)
  }
}
