import type { ReactNode } from 'react'

export interface Column<T> {
  label: string
  of: (row: T) => ReactNode
  /** wide columns are left out on a narrow screen. */
  wide?: boolean
  number?: boolean
  /** short columns are not broken into lines. */
  short?: boolean
}

/** Table is a plain table of some hundred rows at most. */
export function Table<T>({ label, columns, rows, id }: { label: string; columns: Column<T>[]; rows: T[]; id: (row: T, index: number) => string }) {
  const kind = (c: Column<T>) => [c.wide && 'wide', c.number && 'number', c.short && 'short'].filter(Boolean).join(' ') || undefined
  return (
    <div className="table-frame" tabIndex={0} role="region" aria-label={`${label}, as a table`}>
      <table className="plain">
        <thead>
          <tr>
            {columns.map((c) => (
              <th key={c.label} scope="col" className={kind(c)}>
                {c.label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row, i) => (
            <tr key={id(row, i)}>
              {columns.map((c) => (
                <td key={c.label} className={kind(c)}>
                  {c.of(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
