import { useEffect, useRef } from 'react';
import { useStatus } from '../api/status.ts';
import { announce } from '../ui/announce.tsx';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import styles from './bars.module.css';

/** Bars above the page: no connection; a new version of the console. */
export function Bars() {
  const { isOffline, isOutdated } = useStatus();
  const wasOffline = useRef(false);
  useEffect(() => {
    if (wasOffline.current && !isOffline) announce(words.shell.online);
    wasOffline.current = isOffline;
  }, [isOffline]);
  return (
    <>
      <div role="status">
        {isOffline && (
          <p className={styles.bar}>
            <Icon name="warning" /> {words.shell.offline}
          </p>
        )}
      </div>
      <div role="status">
        {isOutdated && (
          <p className={`${styles.bar} ${styles.news}`}>
            {words.shell.outdated}
            <button type="button" className="button button-small" onClick={() => location.reload()}>
              {words.shell.reload}
            </button>
          </p>
        )}
      </div>
    </>
  );
}
