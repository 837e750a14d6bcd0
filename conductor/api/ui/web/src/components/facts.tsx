import type { ReactNode } from 'react'

/** Facts are names and values; those without a value are left out. */
export const Facts = ({ of }: { of: [string, ReactNode][] }) => (
  <dl className="facts">
    {of
      .filter(([, value]) => value !== '' && value !== null && value !== undefined && value !== false)
      .map(([name, value]) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>{value}</dd>
        </div>
      ))}
  </dl>
)
