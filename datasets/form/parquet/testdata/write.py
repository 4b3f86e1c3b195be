# Fixtures: pyarrow writes each combination of encodings, compressions and versions of one table.
import pyarrow as pa, pyarrow.parquet as pq, numpy as np, datetime as dt, decimal, json, sys, os, uuid
out=sys.argv[1]; os.makedirs(out, exist_ok=True)
n=int(sys.argv[2])
rng=np.random.default_rng(1)
def null(a,p=0.2): return [None if rng.random()<p else x for x in a]
tz=dt.timezone(dt.timedelta(hours=2))
base=dt.datetime(2024,2,29,12,30,15,123456)
cols={
 'id': pa.array([f'C{i:04d}' for i in range(n)]),
 'i8': pa.array(null([int(x) for x in rng.integers(-128,128,n)]), pa.int8()),
 'u8': pa.array([int(x) for x in rng.integers(0,256,n)], pa.uint8()),
 'i32': pa.array([int(x) for x in rng.integers(-2**31,2**31,n)], pa.int32()),
 'u32': pa.array(null([int(x) for x in rng.integers(0,2**32,n)]), pa.uint32()),
 'i64': pa.array([int(x) for x in rng.integers(-2**62,2**62,n)], pa.int64()),
 'u64': pa.array([int(x)*2 for x in rng.integers(0,2**63-1,n)], pa.uint64()),
 'f16': pa.array(np.float16(rng.normal(size=n))),
 'f32': pa.array(null([float(np.float32(x)) for x in rng.normal(size=n)]), pa.float32()),
 'f64': pa.array(rng.normal(size=n)),
 'few': pa.array([float(x) for x in rng.integers(0,5,n)]),
 'bool': pa.array(null([bool(x) for x in rng.integers(0,2,n)])),
 'dec': pa.array(null([decimal.Decimal(int(x)).scaleb(-2) for x in rng.integers(-10**6,10**6,n)]), pa.decimal128(9,2)),
 'dec38': pa.array([decimal.Decimal(int(x)*10**15+7).scaleb(-10) for x in rng.integers(-10**15,10**15,n)], pa.decimal128(38,10)),
 'date': pa.array(null([dt.date(1969,12,1)+dt.timedelta(days=int(x)) for x in rng.integers(0,30000,n)])),
 'ts_ms': pa.array([base+dt.timedelta(seconds=int(x)) for x in rng.integers(-10**9*3,10**9,n)], pa.timestamp('ms')),
 'ts_us': pa.array([base+dt.timedelta(microseconds=int(x)) for x in rng.integers(-10**15,10**15,n)], pa.timestamp('us')),
 'ts_ns': pa.array(null([int(x) for x in rng.integers(0,10**18,n)]), pa.timestamp('ns')),
 'ts_tz': pa.array([base.replace(tzinfo=tz)+dt.timedelta(seconds=int(x)) for x in rng.integers(0,10**8,n)], pa.timestamp('us', tz='Europe/Berlin')),
 'word': pa.array(null([['red','green','blue','äöü'][x] for x in rng.integers(0,4,n)])),
 'cat': pa.array([['a','b','c'][x] for x in rng.integers(0,3,n)]).dictionary_encode(),
 'text': pa.array([f'prefix shared {i//3} tail {rng.integers(0,1e9)}' if i%7 else '' for i in range(n)]),
 'bin': pa.array([f'b{i%9}'.encode() for i in range(n)], pa.binary()),
 'fix': pa.array([f'{i%11:04d}'.encode() for i in range(n)], pa.binary(4)),
 'empty': pa.nulls(n),
 'vec': pa.array([None if i%10==3 else [float(np.float32(x)) for x in rng.normal(size=3)] for i in range(n)], pa.list_(pa.float32())),
 'fsl': pa.array([[int(i), None if i%5==0 else int(i)*2] for i in range(n)], pa.list_(pa.int64())),
}
t=pa.table(cols)
want={}
for k in t.column_names:
    a=t[k]; typ=a.type
    if pa.types.is_timestamp(typ):
        us=[None if v is None else v//1000 for v in a.cast(pa.timestamp('ns',tz=typ.tz)).cast(pa.int64()).to_pylist()]
        want[k]=us
    elif pa.types.is_date(typ): want[k]=[None if v is None else (v-dt.date(1970,1,1)).days*86400*10**6 for v in a.to_pylist()]
    elif pa.types.is_decimal(typ): want[k]=[None if v is None else float(v) for v in a.to_pylist()]
    elif pa.types.is_binary(typ) or pa.types.is_fixed_size_binary(typ): want[k]=[v.decode() for v in a.to_pylist()]
    elif pa.types.is_boolean(typ): want[k]=[None if v is None else float(v) for v in a.to_pylist()]
    elif k=='i64': want[k]=a.to_pylist()
    elif pa.types.is_integer(typ) or pa.types.is_floating(typ): want[k]=[None if v is None else float(v) for v in a.to_pylist()]
    else: want[k]=a.to_pylist()
json.dump(want, open(out+'/want.json','w'))
k=0
def w(name, **kw): pq.write_table(t, f'{out}/{name}.parquet', **kw)
for c in ['none','snappy','gzip','zstd','lz4','brotli']:
    w(f'c_{c}', compression=c, row_group_size=97)
w('v2', data_page_version='2.0', compression='zstd', row_group_size=97)
w('v2_none', data_page_version='2.0', compression='none', data_page_size=400, write_batch_size=16)
w('plain', use_dictionary=False, compression='none', data_page_size=400, write_batch_size=16, write_page_checksum=True)
w('crc', compression='snappy', write_page_checksum=True)
d={c:'DELTA_BINARY_PACKED' for c in ['i8','u8','i32','u32','i64','u64','date','ts_ms','ts_us','ts_ns','ts_tz','fsl.list.element']}
d.update({c:'DELTA_LENGTH_BYTE_ARRAY' for c in ['text']}); d.update({c:'DELTA_BYTE_ARRAY' for c in ['id','word','bin','fix','dec38']})
d.update({c:'BYTE_STREAM_SPLIT' for c in ['f16','f32','f64','few','vec.list.element']}); d.update({'bool':'RLE'})
w('delta', use_dictionary=False, column_encoding=d, compression='none', data_page_size=500, write_batch_size=37)
d['bin']='PLAIN'; d['i32']='BYTE_STREAM_SPLIT'; d['i64']='BYTE_STREAM_SPLIT'; d['dec']='BYTE_STREAM_SPLIT'; d['fix']='BYTE_STREAM_SPLIT'
w('split', use_dictionary=False, column_encoding=d, compression='zstd', data_page_version='2.0')
w('int96', use_deprecated_int96_timestamps=True)
w('old', version='1.0', row_group_size=50, coerce_timestamps='us', allow_truncated_timestamps=True)
# Each of these has a column x that is refused.
r=out+'/refused'; os.makedirs(r, exist_ok=True)
def bad(name, a): pq.write_table(pa.table({'id': ['a','b','c'], 'x': a}), f'{r}/{name}.parquet', compression='none', write_statistics=False, store_schema=False)
bad('struct', pa.array([{'a':1,'b':2}]*3))
bad('struct1', pa.array([{'a':1}]*3))
bad('map', pa.array([[('a',1)]]*3, pa.map_(pa.string(), pa.int32())))
bad('texts', pa.array([['a','b']]*3))
bad('lists', pa.array([[[1],[2]]]*3))
bad('ragged', pa.array([[1.,2.],None,[1.]]))
bad('latin', pa.array([b'a','Müller'.encode('latin1'),b'c'], pa.binary()))
bad('time', pa.array([dt.time(1,2,3)]*3))
