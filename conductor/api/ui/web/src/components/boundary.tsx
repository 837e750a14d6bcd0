import { Component, type ReactNode } from 'react'
import { errorText } from '../api/fault'
import { visible } from '../lib/format'

/** Boundary shows that a part of the page has failed, in its place. */
export class Boundary extends Component<{ children: ReactNode }, { error: string }> {
  override state = { error: '' }

  static getDerivedStateFromError(err: unknown): { error: string } {
    return { error: errorText(err) }
  }

  override render(): ReactNode {
    if (this.state.error === '') return this.props.children
    return (
      <div className="notice notice-error" role="alert">
        <h1>This page has failed</h1>
        <p>{visible(this.state.error)}</p>
        <p>If the conductor was upgraded meanwhile, the page that is open is the old one.</p>
        <button type="button" onClick={() => location.reload()}>
          Load it anew
        </button>
      </div>
    )
  }
}
