import { Suspense, useEffect, useState } from 'react'
import { errorText } from './api/fault'
import { machineStore } from './api/machine-store'
import { session } from './api/session'
import { stream } from './api/stream'
import { Boundary } from './components/boundary'
import { Layout } from './components/layout'
import { Login } from './components/login'
import { Failed } from './components/notice'
import { useRoute } from './hooks/use-route'
import { useStore } from './hooks/use-store'
import { pageOf } from './pages'
import { NoPage } from './components/no-page'

export function App() {
  const { session: who, asked } = useStore(session)
  const [error, setError] = useState('')
  const route = useRoute()
  const begin = () => {
    setError('')
    session.begin().catch((err: unknown) => setError(errorText(err)))
  }
  useEffect(() => {
    begin()
    if (route.page === '') machineStore.begin() // beside the question who asks: it is most of the wait for the first rows
  }, [])
  useEffect(() => {
    if (who) stream.start()
  }, [who])
  if (asked && !who) return <Login />
  if (!who) return <main className="gate">{error !== '' && <Failed error={error} retry={begin} />}</main>
  const Page = pageOf(route)
  return (
    <Layout>
      <Boundary key={`${route.page}/${route.rest.join('/')}`}>
        <Suspense fallback={<p className="empty">Loading …</p>}>{Page ? <Page /> : <NoPage route={route} />}</Suspense>
      </Boundary>
    </Layout>
  )
}
