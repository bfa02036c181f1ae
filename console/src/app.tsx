import { QueryClientProvider } from '@tanstack/react-query';
import { useLayoutEffect } from 'react';
import { usePathname } from 'wouter/use-browser-location';
import { queryClient } from './api/query-client.ts';
import { lastSystem } from './memory/preferences.ts';
import { parseAddress, pathsOf } from './model/address.ts';
import { settings } from './settings.ts';
import { Gate } from './sign-in/gate.tsx';
import { SystemPages } from './system-pages.tsx';
import { Announcer } from './ui/announce.tsx';
import { Boundary } from './ui/boundary.tsx';
import { go } from './ui/go.ts';
import { MessagePage } from './ui/states.tsx';
import { words } from './words/index.ts';

/** The whole program: which page an address is. */
export function App() {
  return (
    <QueryClientProvider client={queryClient}>
      <Boundary>
        <Pages />
      </Boundary>
      <Announcer />
    </QueryClientProvider>
  );
}

function Pages() {
  const address = parseAddress(settings.root, usePathname());
  if (address.kind === 'sign-in') return <Gate />;
  if (address.kind === 'start') return <Start />;
  if (address.kind === 'unknown' && address.appId === null) {
    return (
      <main id="main">
        <MessagePage title={words.errors.notFoundTitle} text={words.errors.notFoundText} />
      </main>
    );
  }
  const appId = address.appId as string;
  return <SystemPages key={appId} appId={appId} address={address} />;
}

/** The console's root: the only system, the last one, or the question which. */
function Start() {
  const appId = settings.defaultAppId ?? lastSystem();
  useLayoutEffect(() => {
    if (appId) go(pathsOf(settings.root, appId).home, { replace: true });
  }, [appId]);
  return appId ? null : <Gate />;
}
