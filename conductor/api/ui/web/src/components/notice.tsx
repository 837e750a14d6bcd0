import type { ReactNode } from 'react'
import { visible } from '../lib/format'

/** Notice is a message in the page: a failure, or something to know. */
export function Notice({ kind = 'info', children }: { kind?: 'info' | 'error' | 'good'; children: ReactNode }) {
  return (
    <div className={`notice notice-${kind}`} role={kind === 'error' ? 'alert' : 'status'}>
      {typeof children === 'string' ? visible(children) : children}
    </div>
  )
}

/** Failed is the notice of something that could not be read. */
export const Failed = ({ error, retry }: { error: string; retry?: () => void }) =>
  error === '' ? null : (
    <div className="notice notice-error" role="alert">
      {visible(error)}{' '}
      {retry && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
    </div>
  )

/** Empty says that there is nothing, and how something comes to be there. */
export const Empty = ({ children }: { children: ReactNode }) => <p className="empty">{children}</p>
