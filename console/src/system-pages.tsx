import { Suspense, useEffect, useRef, useState } from 'react';
import { ApiFailure, isSessionOver, NoConnection } from './api/failure.ts';
import { keys, queryClient } from './api/query-client.ts';
import { useModelQuery } from './api/reads.ts';
import { setStatus } from './api/status.ts';
import { SystemProvider } from './api/system.tsx';
import { HomePage } from './home/home-page.tsx';
import { noteSystem } from './memory/preferences.ts';
import type { Address } from './model/address.ts';
import { SearchPage } from './search/search-page.tsx';
import { Loading } from './shell/loading.tsx';
import { NoSystem } from './shell/no-system.tsx';
import { NoTable, NotFound } from './shell/not-found.tsx';
import { Shell } from './shell/shell.tsx';
import { SignInPage } from './sign-in/sign-in-page.tsx';
import { Boundary, lazyPage } from './ui/boundary.tsx';
import { Skeleton } from './ui/states.tsx';

const GridPage = lazyPage(async () => (await import('./grid/grid-page.tsx')).GridPage);
const RecordPage = lazyPage(async () => (await import('./record/record-page.tsx')).RecordPage);
const NewPage = lazyPage(async () => (await import('./record/new-page.tsx')).NewPage);
const MePage = lazyPage(async () => (await import('./me/me-page.tsx')).MePage);

/** Delay in milliseconds after the first page, whose own loading comes first. */
const PRELOAD_MS = 3000;

/** The pages of a system for a signed-in user; otherwise the sign-in page, followed by the requested page. */
export function SystemPages({ appId, address }: { appId: string; address: Address }) {
  const model = useModelQuery(appId);
  const isLoaded = model.data !== undefined;
  const isPageLoaded = useFirstPage(address);
  useEffect(() => {
    if (!isLoaded) return;
    noteSystem(appId);
    // Preloaded, so that records can still be opened after the connection is lost.
    const timer = setTimeout(() => Promise.all([RecordPage.preload(), GridPage.preload()]), PRELOAD_MS);
    return () => clearTimeout(timer);
  }, [isLoaded, appId]);
  if (model.data && isPageLoaded) {
    return (
      <SystemProvider appId={appId} model={model.data}>
        <Shell address={address}>
          <Arrival key={appId} address={address} />
          <Boundary key={location.pathname}>
            <Suspense fallback={<PageLoading />}>
              <PageOf address={address} />
            </Suspense>
          </Boundary>
        </Shell>
      </SystemProvider>
    );
  }
  if (isSessionOver(model.error)) {
    const onDone = () => {
      setStatus({ isSignedOut: false });
      queryClient.resetQueries({ queryKey: keys.model(appId) });
    };
    return <SignInPage appId={appId} onDone={onDone} />;
  }
  if (model.error && !(model.error instanceof NoConnection)) {
    const isUnknown = model.error instanceof ApiFailure && model.error.status === 403 && model.error.code === 0;
    return <NoSystem error={model.error} isUnknown={isUnknown} onRetry={() => model.refetch()} />;
  }
  return <Loading onRetry={model.error ? () => model.refetch() : undefined} />;
}

/** Loads the code of the first page in parallel with the model. @returns whether it is loaded */
function useFirstPage({ kind }: Address): boolean {
  const [page] = useState(() => (kind === 'grid' ? GridPage : kind === 'record' ? RecordPage : null));
  const [isLoaded, setIsLoaded] = useState(page === null);
  useEffect(() => {
    page?.preload().then(() => setIsLoaded(true));
  }, [page]);
  return isLoaded;
}

function PageOf({ address }: { address: Address }) {
  switch (address.kind) {
    case 'home':
      return <HomePage />;
    case 'grid':
      return (
        <NoTable table={address.table}>
          <GridPage key={address.table} table={address.table} />
        </NoTable>
      );
    case 'record':
      return (
        <NoTable table={address.table}>
          <RecordPage key={`${address.table}/${address.objectId}`} table={address.table} objectId={address.objectId} />
        </NoTable>
      );
    case 'new':
      return (
        <NoTable table={address.table}>
          <NewPage key={address.table} table={address.table} />
        </NoTable>
      );
    case 'page':
      if (address.page === 'search') return <SearchPage />;
      if (address.page === 'me') return <MePage />;
      return <NotFound />;
    default:
      return <NotFound />;
  }
}

/** Moves the focus to the beginning of a page after navigation. */
function Arrival({ address }: { address: Address }) {
  const text = JSON.stringify(address);
  const last = useRef(text);
  useEffect(() => {
    if (last.current === text) return;
    last.current = text;
    scrollTo(0, 0);
    document.getElementById('main')?.focus({ preventScroll: true });
  }, [text]);
  return null;
}

function PageLoading() {
  return (
    <div className="page-loading">
      <Skeleton lines={8} />
    </div>
  );
}
