import { useLayoutEffect, useRef, useState } from 'react';
import { describe } from '../api/describe.ts';
import { useSystem } from '../api/system.tsx';
import { type Upload, uploadFile } from '../api/writes.ts';
import { fileOf } from '../model/values.ts';
import { announce } from '../ui/announce.tsx';
import { Icon } from '../ui/icons.tsx';
import { words } from '../words/index.ts';
import type { ControlProps } from './control.ts';
import styles from './fields.module.css';
import { FileView } from './file-view.tsx';

/** Shows the current file and uploads another one. The upload starts immediately; the record refers to it when it is saved. */
export function FileControl({ id, labelId, table, field, value, describedBy, onChange }: ControlProps) {
  const { appId } = useSystem();
  const upload = useRef<Upload | null>(null);
  const [percent, setPercent] = useState<number | null>(null);
  const [problem, setProblem] = useState('');
  const file = fileOf(value);
  const element = useRef<HTMLDivElement>(null);
  const holdsFocus = useRef(false);
  const isSending = percent !== null;
  /** Keeps the keyboard focus in the control when its buttons change. */
  const show = (next: number | null) => {
    holdsFocus.current = element.current?.contains(document.activeElement) ?? false;
    setPercent(next);
  };
  useLayoutEffect(() => {
    if (holdsFocus.current) element.current?.querySelector<HTMLElement>(isSending ? '[data-cancel]' : 'input')?.focus();
    holdsFocus.current = false;
  }, [isSending]);
  const send = async (chosen: File | undefined) => {
    if (!chosen) return;
    setProblem('');
    show(0);
    upload.current = uploadFile(appId, table, field.name, chosen, (share) => setPercent(Math.round(share * 100)));
    try {
      onChange(await upload.current.done);
    } catch (error) {
      if (error instanceof DOMException) return;
      const text = `${words.fields.uploadFailed} ${describe(error).text}`;
      setProblem(text);
      announce(text);
    } finally {
      show(null);
    }
  };
  return (
    <div ref={element} className={styles.file}>
      {file && <FileView file={file} />}
      {percent === null ? (
        <span className={styles.actions}>
          <span className={`button button-small ${styles.upload}`}>
            <Icon name="upload" size={14} />
            <span id={`${id}-action`}>{file ? words.fields.replace : words.fields.upload}</span>
            {/* Covers the whole button: it receives clicks, the focus and dropped files, and carries the field's label. */}
            <input
              id={id}
              type="file"
              title=""
              aria-labelledby={`${labelId} ${id}-action`}
              aria-describedby={describedBy}
              onChange={(event) => send(event.target.files?.[0])}
            />
          </span>
          {file && (
            <button type="button" className="button button-quiet button-small" onClick={() => onChange(null)}>
              {words.fields.removeFile}
            </button>
          )}
        </span>
      ) : (
        <span className={styles.actions}>
          <progress className={styles.progress} max={100} value={percent} aria-labelledby={labelId} />
          <span>{words.fields.uploading(percent)}</span>
          <button type="button" className="button button-quiet button-small" data-cancel onClick={() => upload.current?.cancel()}>
            {words.fields.cancelUpload}
          </button>
        </span>
      )}
      {problem && <p className="problem">{problem}</p>}
    </div>
  );
}
