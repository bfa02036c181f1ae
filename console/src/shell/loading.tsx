import { useEffect } from 'react';
import { Skeleton } from '../ui/states.tsx';
import { words } from '../words/index.ts';
import { Bars } from './bars.tsx';
import styles from './loading.module.css';

const RETRY_MS = 2000;

/** Shown until the system is loaded. `onRetry`: set if the service was not reached; called at intervals. */
export function Loading({ onRetry }: { onRetry: (() => void) | undefined }) {
  useEffect(() => {
    const timer = onRetry && setInterval(onRetry, RETRY_MS);
    return () => clearInterval(timer);
  });
  return (
    <>
      <Bars />
      <main id="main" className={styles.loading}>
        <h1 className="visually-hidden">{words.shell.loading}</h1>
        <Skeleton lines={6} />
      </main>
    </>
  );
}
