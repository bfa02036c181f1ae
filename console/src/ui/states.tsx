import type { ReactNode } from 'react';
import { describe } from '../api/describe.ts';
import { words } from '../words/index.ts';
import { Icon, type IconName } from './icons.tsx';
import styles from './states.module.css';

/** Grey lines shown until an answer arrives. */
export function Skeleton({ lines = 3 }: { lines?: number }) {
  return (
    <div className={styles.skeleton} role="status" aria-label={words.shell.loading}>
      {Array.from({ length: lines }, (_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity
        <span key={index} className={styles.line} />
      ))}
    </div>
  );
}

/** Shown in place of an empty list, with what to do about it. */
export function Empty({ icon, children }: { icon?: IconName; children: ReactNode }) {
  return (
    <div className={styles.empty}>
      {icon && <Icon name={icon} size={20} />}
      <p>{children}</p>
    </div>
  );
}

/** A failure in words, with the service's text below. */
export function Failure({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { text, detail } = describe(error);
  return (
    <div className={styles.failure} role="alert">
      <Icon name="warning" />
      <div className={styles.words}>
        <p>{text}</p>
        {detail && (
          <p className={styles.detail}>
            {words.errors.answer} <bdi dir="ltr">{detail}</bdi>
          </p>
        )}
      </div>
      {onRetry && (
        <button type="button" className="button" onClick={onRetry}>
          {words.shell.retry}
        </button>
      )}
    </div>
  );
}

/** A page with a single message: not found, failed. */
export function MessagePage({ title, text, children }: { title: string; text: string; children?: ReactNode }) {
  return (
    <div className={styles.page}>
      <title>{title}</title>
      <h1>{title}</h1>
      <p>{text}</p>
      {children && <div className={styles.actions}>{children}</div>}
    </div>
  );
}
