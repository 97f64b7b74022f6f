from __future__ import annotations

from assay.weights.remotes.bucket_remote import BucketRemote
from assay.weights.remotes.folder_remote import FolderRemote
from assay.weights.remotes.remote import Remote
from assay.weights.remotes.remote_files import RemoteFiles


def open_remote(url: str) -> Remote:
    files = RemoteFiles(url)
    return BucketRemote(files) if files.folder is None else FolderRemote(files, files.folder)
