import { DateEditor } from './date-editor.tsx';
import type { EditActions, Editing } from './edit-state.ts';
import { PointersEditor } from './pointers-editor.tsx';
import { TextEditor } from './text-editor.tsx';

export interface CellEditorProps {
  readonly edit: Editing;
  readonly label: string;
  readonly actions: EditActions;
}

/** Returns the editor for a field's type. */
export function CellEditor(props: CellEditorProps) {
  switch (props.edit.field.type) {
    case 'Date':
      return <DateEditor {...props} />;
    case 'Pointer':
    case 'Array':
      return <PointersEditor {...props} />;
    default:
      return <TextEditor {...props} />;
  }
}
