import { type ReactNode, useEffect, useState } from 'react';
import { useChanges } from '../api/changes.ts';
import { useStatus } from '../api/status.ts';
import { useSystem } from '../api/system.tsx';
import type { Address } from '../model/address.ts';
import { SessionDialog } from '../sign-in/session-dialog.tsx';
import { words } from '../words/index.ts';
import { BannerBar } from './banner-bar.tsx';
import { Navigation } from './navigation.tsx';
import styles from './shell.module.css';
import { ShortcutsDialog } from './shortcuts-dialog.tsx';
import { useShortcuts } from './use-shortcuts.ts';

/** The frame of every page of a system: banner, navigation, main. */
export function Shell({ address, children }: { address: Address; children: ReactNode }) {
  const { appId } = useSystem();
  const { isSignedOut } = useStatus();
  const [isNavOpen, setNavOpen] = useState(false);
  const [isHelpOpen, setHelpOpen] = useState(false);
  const table = 'table' in address ? address.table : null;
  useChanges(appId);
  useShortcuts(table, () => setHelpOpen(true));
  useEffect(() => {
    if (!isNavOpen) return;
    const close = (event: KeyboardEvent) => event.key === 'Escape' && setNavOpen(false);
    addEventListener('keydown', close);
    return () => removeEventListener('keydown', close);
  }, [isNavOpen]);
  return (
    <div className={styles.shell}>
      <a className={styles.skip} href="#main">
        {words.shell.skip}
      </a>
      <BannerBar isNavOpen={isNavOpen} onToggleNav={() => setNavOpen(!isNavOpen)} />
      <div className={styles.columns}>
        <div id="tables" className={styles.side} data-open={isNavOpen || undefined}>
          <Navigation current={table} onGo={() => setNavOpen(false)} />
        </div>
        {isNavOpen && <div className={styles.cover} onPointerDown={() => setNavOpen(false)} />}
        <main id="main" className={styles.main} tabIndex={-1}>
          {children}
        </main>
      </div>
      {isHelpOpen && <ShortcutsDialog onClose={() => setHelpOpen(false)} />}
      {isSignedOut && <SessionDialog />}
    </div>
  );
}
