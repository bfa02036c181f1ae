import { type ReactNode, useEffect } from 'react';
import { Skeleton } from '../ui/states.tsx';
import { Bars } from './bars.tsx';
import styles from './loading.module.css';

const RETRY_MS = 2000;

/** While a system is not known yet. `onRetry`: the service was not reached; it is asked again by and by. */
export function Loading({ children, onRetry }: { children?: ReactNode; onRetry?: (() => void) | undefined }) {
  useEffect(() => {
    const timer = onRetry && setInterval(onRetry, RETRY_MS);
    return () => clearInterval(timer);
  });
  return (
    <>
      <Bars />
      <main id="main" className={styles.loading}>
        {children ?? <Skeleton lines={6} />}
      </main>
    </>
  );
}
