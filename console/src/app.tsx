import { QueryClientProvider } from '@tanstack/react-query';
import { usePathname } from 'wouter/use-browser-location';
import { queryClient } from './api/query-client.ts';
import { parseAddress } from './model/address.ts';
import { settings } from './settings.ts';
import { Gate } from './sign-in/gate.tsx';
import { SystemPages } from './system-pages.tsx';
import { Announcer } from './ui/announce.tsx';
import { Boundary } from './ui/boundary.tsx';
import { MessagePage } from './ui/states.tsx';
import { words } from './words/index.ts';

/** The whole program: shows the page of the current address. */
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
  // A signed-in user never stays here: the server redirects from the console's root.
  if (address.kind === 'sign-in' || address.kind === 'start') return <Gate />;
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
