import { type ReactNode, useEffect, useId, useRef } from 'react';
import { createPortal } from 'react-dom';
import { words } from '../words/index.ts';
import styles from './dialog.module.css';
import { Icon } from './icons.tsx';

let open = 0;

/** Makes the page under a dialog inert, for assistive technology too. */
function coverPage(change: 1 | -1): void {
  open += change;
  const root = document.getElementById('root');
  if (!root) return;
  root.inert = open > 0;
  if (open > 0) root.setAttribute('aria-hidden', 'true');
  else root.removeAttribute('aria-hidden');
}

export interface DialogProps {
  readonly title: string;
  readonly children: ReactNode;
  /** Buttons. */
  readonly footer?: ReactNode;
  /** Without it the dialog cannot be closed. */
  readonly onClose?: () => void;
  readonly isWide?: boolean;
}

/** A modal dialog. The focus moves to its first control, or to the element with `data-first`, and back to the opener when it closes. */
export function Dialog({ title, children, footer, onClose, isWide }: DialogProps) {
  const ref = useRef<HTMLDialogElement>(null);
  const titleId = useId();
  useEffect(() => {
    const dialog = ref.current;
    const opener = document.activeElement;
    dialog?.showModal();
    dialog?.querySelector<HTMLElement>('[data-first]')?.focus();
    coverPage(1);
    return () => {
      coverPage(-1);
      dialog?.close();
      if (opener instanceof HTMLElement && opener.isConnected) opener.focus();
    };
  }, []);
  return createPortal(
    <dialog
      ref={ref}
      className={isWide ? `${styles.dialog} ${styles.wide}` : styles.dialog}
      aria-modal="true"
      aria-labelledby={titleId}
      onCancel={(event) => {
        event.preventDefault();
        onClose?.();
      }}
      onKeyDown={(event) => {
        // A second Esc would close the dialog whatever `cancel` does.
        if (event.key !== 'Escape') return;
        event.preventDefault();
        event.stopPropagation();
        onClose?.();
      }}
    >
      <header className={styles.header}>
        <h2 id={titleId} className={styles.title} dir="auto">
          {title}
        </h2>
        {onClose && (
          <button type="button" className="button button-quiet button-icon" aria-label={words.shell.close} onClick={onClose}>
            <Icon name="close" />
          </button>
        )}
      </header>
      <div className={styles.body}>{children}</div>
      {footer && <footer className={styles.footer}>{footer}</footer>}
    </dialog>,
    document.body,
  );
}
